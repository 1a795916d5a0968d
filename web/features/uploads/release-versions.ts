import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Platform } from '../../../contract/builds.ts';
import { releases } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { call } from '../../api.ts';
import { asReleases } from '../../as-releases.ts';
import type { KnownVersions, UrlPayload } from './new-release.ts';

/** Which versions of a platform and channel exist, and which are in the recycle bin. */
export const versionsQuery = (platform: Platform, channel: Channel) =>
  queryOptions({
    queryKey: ['releases', 'versions', platform, channel],
    queryFn: async ({ signal }): Promise<KnownVersions> => {
      const [{ data: highest }, bin] = await Promise.all([
        // The list starts with the highest.
        call(releases.list, { query: { platform, channel, limit: '1' } }, { signal }),
        call(releases.trash, { query: { pageSize: '500' } }, { signal }),
      ]);
      const deleted = bin.releases.filter((one) => one.platform === platform && one.channel === channel);
      const versionsOf = (some: readonly { version: string }[]) => some.map(({ version }) => version);
      return { existing: versionsOf(highest), deleted: versionsOf(deleted) };
    },
    ...asReleases,
  });

/**
 * These versions as they were first known while the form is open: a release that is made meanwhile, such as the same build
 * for another architecture, must not change the version that the user has seen.
 */
export function useVersions(platform: Platform, channel: Channel): KnownVersions | undefined {
  const { data, isFetching } = useQuery(versionsQuery(platform, channel));
  const line = `${platform} ${channel}`;
  const [seen, setSeen] = useState<{ line: string; versions: KnownVersions }>();
  if (data && !isFetching && seen?.line !== line) setSeen({ line, versions: data });
  return seen?.line === line ? seen.versions : data;
}

export const createFromUrl = (body: UrlPayload) => call(releases.createFromUrl, { body });
