import { Checkbox } from '@mantine/core';
import { architectureNames, platformNames } from '../../../contract/builds.ts';
import { architectures, channels, platforms } from '../../../contract/list-words.ts';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { useReleasesSearch } from './releases-search.ts';

const platformChoices = platforms.map((value) => ({ value, label: platformNames[value] }));
const channelChoices = channels.map((value) => ({ value, label: value }));
const architectureChoices = architectures.map((value) => ({ value, label: architectureNames[value] }));

/** Filters by platform, channel and architecture; a switch includes inactive releases. */
export function ReleaseFilters() {
  const { search, change } = useReleasesSearch();
  return (
    <>
      <FilterSelect
        w={135}
        aria-label="Platform"
        placeholder="All platforms"
        choices={platformChoices}
        value={search.platform}
        onChange={(platform) => change({ platform })}
      />
      <FilterSelect
        w={130}
        aria-label="Channel"
        placeholder="All channels"
        choices={channelChoices}
        value={search.channel}
        onChange={(channel) => change({ channel })}
      />
      <FilterSelect
        w={145}
        aria-label="Architecture"
        placeholder="All architectures"
        choices={architectureChoices}
        value={search.architecture}
        onChange={(architecture) => change({ architecture })}
      />
      <Checkbox
        label="Show inactive"
        checked={search.inactive === '1'}
        onChange={(event) => change({ inactive: event.currentTarget.checked ? '1' : undefined })}
      />
    </>
  );
}
