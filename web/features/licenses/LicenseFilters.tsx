import { Checkbox, Select } from '@mantine/core';
import { licenseTypes } from '../../../contract/licenses.ts';
import { oneOf } from '../../search-params.ts';
import { useAuth } from '../../session.tsx';
import { CustomerSelect } from './CustomerSelect.tsx';
import { typeBadges } from './license-labels.ts';
import type { LicenseListSearch } from './licenses-search.ts';

const types = licenseTypes.map((type) => ({ value: type, label: typeBadges[type].word }));

/** Filters by type, customer and upcoming expiry. */
export function LicenseFilters(props: {
  search: LicenseListSearch;
  customerName: string | undefined;
  onChange: (changes: Pick<LicenseListSearch, 'type' | 'customer' | 'expiring'>) => void;
}) {
  const { search, onChange } = props;
  const { can } = useAuth();
  return (
    <>
      <Select
        w={120}
        aria-label="Type"
        placeholder="All types"
        clearable
        data={types}
        value={oneOf(licenseTypes, search.type) ?? null}
        onChange={(type) => onChange({ type: type ?? undefined })}
      />
      {(can.viewCustomers || search.customer) && (
        <CustomerSelect
          w={190}
          aria-label="Customer"
          placeholder="All customers"
          clearable
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
    </>
  );
}
