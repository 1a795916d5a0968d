import { countries } from '../../../contract/countries.ts';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { useCustomerListSearch } from './customers-search.ts';

const countryChoices = countries.map(({ code, name, also }) => ({ value: code, label: name, also }));

/** Filters by country; there is no status filter, since only soft-deleted customers are inactive. */
export function CustomerFilters() {
  const { search, change } = useCustomerListSearch();
  return (
    <SearchSelect
      w={170}
      aria-label="Filter by country"
      placeholder="All countries"
      clearable
      nothingFound="No such country"
      data={countryChoices}
      value={search.country ?? null}
      onChange={(country) => change({ country: country ?? undefined })}
    />
  );
}
