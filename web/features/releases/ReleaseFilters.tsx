import { Checkbox, Select } from '@mantine/core';
import { architectureNames, architectures, platformNames, platforms } from '../../../contract/builds.ts';
import { channels } from '../../../contract/versions.ts';
import { oneOf } from '../../search-params.ts';
import type { ReleasesSearch } from './releases-search.ts';

const platformChoices = platforms.map((value) => ({ value, label: platformNames[value] }));
const architectureChoices = architectures.map((value) => ({ value, label: architectureNames[value] }));

type Filters = Pick<ReleasesSearch, 'platform' | 'channel' | 'architecture' | 'inactive'>;

/** Filters by platform, channel and architecture; a switch includes inactive releases. */
export function ReleaseFilters(props: { search: ReleasesSearch; onChange: (changes: Filters) => void }) {
  const { search, onChange } = props;
  return (
    <>
      <Select
        w={135}
        aria-label="Platform"
        placeholder="All platforms"
        clearable
        data={platformChoices}
        value={oneOf(platforms, search.platform) ?? null}
        onChange={(platform) => onChange({ platform: platform ?? undefined })}
      />
      <Select
        w={130}
        aria-label="Channel"
        placeholder="All channels"
        clearable
        data={channels}
        value={oneOf(channels, search.channel) ?? null}
        onChange={(channel) => onChange({ channel: channel ?? undefined })}
      />
      <Select
        w={145}
        aria-label="Architecture"
        placeholder="All architectures"
        clearable
        data={architectureChoices}
        value={oneOf(architectures, search.architecture) ?? null}
        onChange={(architecture) => onChange({ architecture: architecture ?? undefined })}
      />
      <Checkbox
        label="Show inactive"
        checked={search.inactive === '1'}
        onChange={(event) => onChange({ inactive: event.currentTarget.checked ? '1' : undefined })}
      />
    </>
  );
}
