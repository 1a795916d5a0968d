import { Select } from '@mantine/core';
import { platformNames, platforms } from '../../../contract/builds.ts';
import { machineStates, seenRanges } from '../../../contract/machine-standing.ts';
import { oneOf } from '../../search-params.ts';
import { useAuth } from '../../session.tsx';
import { CustomerSelect } from '../licenses/index.ts';
import type { MachinesSearch } from './machines-search.ts';
import { stateLabels } from './state-labels.ts';

const seenLabels = {
  day: 'Seen in 24 hours',
  week: 'Seen in 7 days',
  month: 'Seen in 30 days',
  before: 'Not in 30 days',
};
const platformChoices = platforms.map((value) => ({ value, label: platformNames[value] }));
const stateChoices = machineStates.map((value) => ({ value, label: stateLabels[value].word }));
const seenChoices = seenRanges.map((value) => ({ value, label: seenLabels[value] }));

/** Filters by state, customer, platform and when they were last seen; without those that need a permission. */
export function MachineFilters(props: {
  search: MachinesSearch;
  onChange: (changes: MachinesSearch) => void;
}) {
  const { search, onChange } = props;
  const { can } = useAuth();
  return (
    <>
      {can.viewLicenses && (
        <Select
          w={120}
          aria-label="State"
          placeholder="All states"
          clearable
          data={stateChoices}
          value={search.state ?? null}
          onChange={(state) => onChange({ state: oneOf(machineStates, state ?? undefined) })}
        />
      )}
      {can.viewCustomers && (
        <CustomerSelect
          w={180}
          aria-label="Customer"
          placeholder="All customers"
          clearable
          value={search.customer ?? null}
          onChange={(customer) => onChange({ customer: customer ?? undefined })}
        />
      )}
      <Select
        w={135}
        aria-label="Platform"
        placeholder="All platforms"
        clearable
        data={platformChoices}
        value={search.platform ?? null}
        onChange={(platform) => onChange({ platform: oneOf(platforms, platform ?? undefined) })}
      />
      <Select
        w={150}
        aria-label="Last seen"
        placeholder="Seen at any time"
        clearable
        data={seenChoices}
        value={search.seen ?? null}
        onChange={(seen) => onChange({ seen: oneOf(seenRanges, seen ?? undefined) })}
      />
    </>
  );
}
