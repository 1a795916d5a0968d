import { architectureNames, architectures, platformNames, platforms } from '../../../contract/builds.ts';
import { channels } from '../../../contract/versions.ts';
import { oneOf } from '../../search-params.ts';
import { chipsOf, without } from '../../ui/filter-chips.ts';
import type { ReleasesSearch } from './releases-search.ts';

export const noFilters: ReleasesSearch = without(['platform', 'channel', 'architecture', 'inactive']);

/** The filters that are set. */
export function releaseChips(search: ReleasesSearch) {
  const platform = oneOf(platforms, search.platform);
  const channel = oneOf(channels, search.channel);
  const architecture = oneOf(architectures, search.architecture);
  return chipsOf({
    platform: platform && `Platform: ${platformNames[platform]}`,
    channel: channel && `Channel: ${channel}`,
    architecture: architecture && `Architecture: ${architectureNames[architecture]}`,
    inactive: search.inactive && 'Inactive ones too',
  });
}
