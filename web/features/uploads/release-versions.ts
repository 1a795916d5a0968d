import { queryOptions } from '@tanstack/react-query';
import type { Platform } from '../../../contract/builds.ts';
import { releases } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { call, callList } from '../../api.ts';
import type { UrlPayload } from './release-form.ts';

const freshFor = 5 * 60_000;

/** Versions that there are on a platform and channel, from which the next one follows. */
export const versionsQuery = (platform: Platform, channel: Channel) =>
  queryOptions({
    queryKey: ['releases', 'versions', platform, channel],
    queryFn: async ({ signal }) => {
      const { data } = await callList(releases.list, { query: { platform, channel } }, { signal });
      return data.map(({ version }) => version);
    },
    staleTime: freshFor,
    retry: 1,
  });

export const createFromUrl = (body: UrlPayload) => call(releases.createFromUrl, { body });
