import { platformNames, platforms } from '../../../contract/builds.ts';
import { machineStates, seenRanges } from '../../../contract/machine-standing.ts';
import { useAuth } from '../../session.tsx';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { MoreFilters } from '../../ui/MoreFilters.tsx';
import { TextFilter } from '../../ui/TextFilter.tsx';
import { CustomerFilter } from '../licenses/index.ts';
import { useMachinesSearch } from './machines-search.ts';
import { seenLabels, stateLabels } from './state-labels.ts';

const platformChoices = platforms.map((value) => ({ value, label: platformNames[value] }));
const stateChoices = machineStates.map((value) => ({ value, label: stateLabels[value].word }));
const seenChoices = seenRanges.map((value) => ({ value, label: seenLabels[value] }));

/** Filters by state, customer, platform, version and when they were last seen; without those that need a permission. */
export function MachineFilters() {
  const { search, change } = useMachinesSearch();
  const { can } = useAuth();
  return (
    <>
      {can.viewLicenses && (
        <FilterSelect
          w={120}
          aria-label="State"
          placeholder="All states"
          choices={stateChoices}
          value={search.state}
          onChange={(state) => change({ state })}
        />
      )}
      {can.viewCustomers && (
        <CustomerFilter w={180} value={search.customer} onChange={(customer) => change({ customer })} />
      )}
      <MoreFilters>
        <FilterSelect
          label="Platform"
          placeholder="All platforms"
          choices={platformChoices}
          value={search.platform}
          onChange={(platform) => change({ platform })}
        />
        <TextFilter
          label="Version"
          placeholder="Any, such as 4.2.1"
          maxLength={100}
          value={search.version}
          onChange={(version) => change({ version })}
        />
        <FilterSelect
          label="Last seen"
          placeholder="Seen at any time"
          choices={seenChoices}
          value={search.seen}
          onChange={(seen) => change({ seen })}
        />
      </MoreFilters>
    </>
  );
}
