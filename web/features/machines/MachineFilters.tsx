import { platformNames } from '../../../contract/builds.ts';
import { machineStates, platforms } from '../../../contract/list-words.ts';
import { useAuth } from '../../session.tsx';
import { DaysFilter } from '../../DaysFilter.tsx';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { MoreFilters } from '../../ui/MoreFilters.tsx';
import { TextFilter } from '../../ui/TextFilter.tsx';
import { CustomerFilter } from '../licenses/index.ts';
import { useMachinesSearch } from './machines-search.ts';
import { seenLabels, stateLabels } from './state-labels.ts';

const platformChoices = platforms.map((value) => ({ value, label: platformNames[value] }));
const stateChoices = machineStates.map((value) => ({ value, label: stateLabels[value].word }));
const seenIn = (days: string) => ({ value: `seen ${days}`, label: seenLabels.seen(days) });
const notIn = (days: string) => ({ value: `unseen ${days}`, label: seenLabels.unseen(days) });
const seenChoices = [...['1', '7', '30'].map(seenIn), notIn('30')];

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
          placeholder="Any, such as 4.2.1 or 4.2"
          maxLength={100}
          value={search.version}
          onChange={(version) => change({ version })}
        />
        <DaysFilter
          label="Last seen"
          placeholder="Seen at any time"
          choices={seenChoices}
          choicesOf={(days) => [seenIn(days), notIn(days)]}
          value={(search.seen && `seen ${search.seen}`) ?? (search.unseen && `unseen ${search.unseen}`)}
          onChange={(value) => {
            const [name, days] = value?.split(' ') ?? [];
            change({ seen: undefined, unseen: undefined, ...(name && { [name]: days }) });
          }}
        />
      </MoreFilters>
    </>
  );
}
