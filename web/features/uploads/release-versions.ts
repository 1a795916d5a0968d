import { queryOptions } from '@tanstack/react-query';
import type { Platform } from '../../../contract/builds.ts';
import { releases } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { call } from '../../api.ts';
import type { UrlPayload } from './new-release.ts';

const freshFor = 5 * 60_000;

/** The highest version on a platform and channel, on which the suggestion is based; none, or one. */
export const versionsQuery = (platform: Platform, channel: Channel) =>
  queryOptions({
    queryKey: ['releases', 'versions', platform, channel],
    queryFn: async ({ signal }) => {
      // The list starts with the highest.
      const query = { platform, channel, limit: '1' };
      const { data } = await call(releases.list, { query }, { signal });
      return data.map(({ version }) => version);
    },
    staleTime: freshFor,
    retry: 1,
  });

export const createFromUrl = (body: UrlPayload) => call(releases.createFromUrl, { body });
