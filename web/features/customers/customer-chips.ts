import { countryName } from '../../../contract/countries.ts';
import { chipsOf } from '../../ui/filter-chips.ts';
import type { CustomerListSearch } from './customers-search.ts';
import { countryOf } from './queries.ts';

/** The filters that are set. */
export function customerChips(search: CustomerListSearch) {
  const country = countryOf(search);
  return chipsOf({ country: country && `Country: ${countryName(country)}` });
}
