import { architectureNames, platformNames } from '../../../contract/builds.ts';
import { chipsOf } from '../../ui/filter-chips.ts';
import type { ReleasesSearch } from './releases-search.ts';

/** The filters that are set. */
export const releaseChips = ({ platform, channel, architecture, inactive }: ReleasesSearch) =>
  chipsOf({
    platform: platform && `Platform: ${platformNames[platform]}`,
    channel: channel && `Channel: ${channel}`,
    architecture: architecture && `Architecture: ${architectureNames[architecture]}`,
    inactive: inactive && 'Inactive ones too',
  });
