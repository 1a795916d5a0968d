import { queryOptions } from '@tanstack/react-query';
import type { Platform } from '../../../contract/builds.ts';
import { releases } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { call } from '../../api.ts';
import type { UrlPayload } from './new-release.ts';

const freshFor = 5 * 60_000;

/**
 * The highest version on a platform and channel, on which the suggestion is based, and those in the recycle bin: a
 * machine that runs a build from there is not offered another one of the same version, and restoring it would be refused.
 */
export const versionsQuery = (platform: Platform, channel: Channel) =>
  queryOptions({
    queryKey: ['releases', 'versions', platform, channel],
    queryFn: async ({ signal }) => {
      const [{ data: highest }, bin] = await Promise.all([
        // The list starts with the highest.
        call(releases.list, { query: { platform, channel, limit: '1' } }, { signal }),
        call(releases.trash, { query: { pageSize: '500' } }, { signal }),
      ]);
      const deleted = bin.releases.filter((one) => one.platform === platform && one.channel === channel);
      return [...highest, ...deleted].map(({ version }) => version);
    },
    staleTime: freshFor,
    retry: 1,
  });

export const createFromUrl = (body: UrlPayload) => call(releases.createFromUrl, { body });
