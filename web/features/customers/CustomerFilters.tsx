import { Select } from '@mantine/core';
import { countries } from '../../../contract/countries.ts';
import { customerStatuses } from '../../../contract/customers.ts';
import { oneOf } from '../../search-params.ts';
import { prefixFirst } from '../../ui/prefix-first.ts';
import type { CustomerListSearch } from './customers-search.ts';

const statuses = customerStatuses.map((status) => ({
  value: status,
  label: status === 'active' ? 'Active' : 'Inactive',
}));
const countryChoices = countries.map(({ code, name }) => ({ value: code, label: name }));

/** Narrows the list to a status or a country. */
export function CustomerFilters(props: {
  search: CustomerListSearch;
  onChange: (changes: Pick<CustomerListSearch, 'status' | 'country'>) => void;
}) {
  const { search, onChange } = props;
  return (
    <>
      <Select
        w={130}
        aria-label="Filter by status"
        placeholder="All statuses"
        clearable
        data={statuses}
        value={oneOf(customerStatuses, search.status) ?? null}
        onChange={(status) => onChange({ status: status ?? undefined })}
      />
      <Select
        w={170}
        aria-label="Filter by country"
        placeholder="All countries"
        clearable
        searchable
        selectFirstOptionOnChange
        filter={prefixFirst}
        nothingFoundMessage="No such country"
        data={countryChoices}
        value={search.country ?? null}
        onChange={(country) => onChange({ country: country ?? undefined })}
      />
    </>
  );
}
