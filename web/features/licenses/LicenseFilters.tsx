import { Checkbox, Select } from '@mantine/core';
import { licenseTypes, seatFilters } from '../../../contract/licenses.ts';
import { oneOf } from '../../search-params.ts';
import { useAuth } from '../../session.tsx';
import { MoreFilters } from '../../ui/MoreFilters.tsx';
import { CustomerSelect } from './CustomerSelect.tsx';
import { typeBadges } from './license-labels.ts';
import { seatLabels, unseenLabel } from './license-chips.ts';
import { unseenDays, type LicenseListSearch } from './licenses-search.ts';

const types = licenseTypes.map((type) => ({ value: type, label: typeBadges[type].word }));

const seats = seatFilters.map((value) => ({ value, label: seatLabels[value] }));
const unseen = unseenDays.map((value) => ({ value, label: unseenLabel(value) }));

/** Filters by type, customer, upcoming expiry, seats in use and machines that fell silent. */
export function LicenseFilters(props: {
  search: LicenseListSearch;
  customerName: string | undefined;
  onChange: (changes: Pick<LicenseListSearch, 'type' | 'customer' | 'expiring' | 'seats' | 'unseen'>) => void;
}) {
  const { search, onChange } = props;
  const { can } = useAuth();
  return (
    <>
      <Select
        w={112}
        aria-label="Type"
        placeholder="All types"
        clearable
        data={types}
        value={oneOf(licenseTypes, search.type) ?? null}
        onChange={(type) => onChange({ type: type ?? undefined })}
      />
      {(can.viewCustomers || search.customer) && (
        <CustomerSelect
          w={165}
          aria-label="Customer"
          placeholder="All customers"
          clearable
          loadsLate
          value={search.customer ?? null}
          name={props.customerName}
          onChange={(customer) => onChange({ customer: customer ?? undefined })}
        />
      )}
      <Checkbox
        label="Expires within 30 days"
        checked={search.expiring === '30'}
        onChange={(event) => onChange({ expiring: event.currentTarget.checked ? '30' : undefined })}
      />
      <MoreFilters>
        <Select
          label="Seats"
          placeholder="Any"
          clearable
          data={seats}
          value={search.seats ?? null}
          onChange={(value) => onChange({ seats: oneOf(seatFilters, value ?? undefined) })}
        />
        <Select
          label="Machines"
          placeholder="Any"
          clearable
          data={unseen}
          value={search.unseen ?? null}
          onChange={(value) => onChange({ unseen: oneOf(unseenDays, value ?? undefined) })}
        />
      </MoreFilters>
    </>
  );
}
