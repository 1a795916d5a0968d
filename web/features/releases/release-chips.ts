import { architectureNames, architectures, platformNames, platforms } from '../../../contract/builds.ts';
import { channels } from '../../../contract/versions.ts';
import { oneOf } from '../../search-params.ts';
import type { ReleasesSearch } from './releases-search.ts';

const names = ['platform', 'channel', 'architecture', 'inactive'] as const;
export const noFilters: ReleasesSearch = Object.fromEntries(names.map((name) => [name, undefined]));

/** The filters that are set. */
export function releaseChips(search: ReleasesSearch) {
  const platform = oneOf(platforms, search.platform);
  const channel = oneOf(channels, search.channel);
  const architecture = oneOf(architectures, search.architecture);
  const labels: Record<(typeof names)[number], string | undefined> = {
    platform: platform && `Platform: ${platformNames[platform]}`,
    channel: channel && `Channel: ${channel}`,
    architecture: architecture && `Architecture: ${architectureNames[architecture]}`,
    inactive: search.inactive && 'Inactive ones too',
  };
  return names.flatMap((name) => {
    const label = labels[name];
    return label ? [{ name, label }] : [];
  });
}
