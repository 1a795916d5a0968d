import { Checkbox } from '@mantine/core';
import { licenseTypes, seatFilters } from '../../../contract/list-words.ts';
import { useAuth } from '../../session.tsx';
import { DaysFilter } from '../../DaysFilter.tsx';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { MoreFilters } from '../../ui/MoreFilters.tsx';
import { CustomerFilter } from './CustomerFilter.tsx';
import { typeBadges } from './license-labels.ts';
import { seatLabels, unseenLabel } from './license-chips.ts';
import { useLicenseSearch } from './licenses-search.ts';

const types = licenseTypes.map((type) => ({ value: type, label: typeBadges[type].word }));

const seats = seatFilters.map((value) => ({ value, label: seatLabels[value] }));
const unseenFor = (days: string) => [{ value: days, label: unseenLabel(days) }];
const unseen = ['7', '30', '90', '365'].flatMap(unseenFor);

/** Filters by type, customer, upcoming expiry, seats in use and machines that fell silent. */
export function LicenseFilters({ customerName }: { customerName: string | undefined }) {
  const { search, change } = useLicenseSearch();
  const { can } = useAuth();
  return (
    <>
      <FilterSelect
        w={112}
        aria-label="Type"
        placeholder="All types"
        choices={types}
        value={search.type}
        onChange={(type) => change({ type })}
      />
      {(can.viewCustomers || search.customer) && (
        <CustomerFilter
          w={150}
          value={search.customer}
          name={customerName}
          onChange={(customer) => change({ customer })}
        />
      )}
      <Checkbox
        label="Expires within 30 days"
        checked={search.expiring === '30'}
        onChange={(event) => change({ expiring: event.currentTarget.checked ? '30' : undefined })}
      />
      <MoreFilters>
        <FilterSelect
          label="Seats"
          placeholder="Any"
          choices={seats}
          value={search.seats}
          onChange={(value) => change({ seats: value })}
        />
        <DaysFilter
          label="Machines"
          placeholder="Any"
          choices={unseen}
          choicesOf={unseenFor}
          value={search.unseen}
          onChange={(value) => change({ unseen: value })}
        />
      </MoreFilters>
    </>
  );
}
