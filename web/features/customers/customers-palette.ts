import { countryName } from '../../../contract/countries.ts';
import { paths } from '../../paths.ts';
import type { PaletteSource } from '../../shell/palette-sources.ts';
import { queryClient } from '../../query-client.ts';
import { customerChoicesQuery } from './customers.ts';

/** Customers in the command palette: found by name or email, and a way to create one. */
export const customersPalette: PaletteSource = {
  group: 'Customers',
  resource: 'customers',
  actions: [
    {
      id: 'customers create',
      label: 'Create Customer',
      to: paths.customers,
      search: { dialog: 'create' },
      action: 'create',
    },
  ],
  find: async (text) => {
    const { data } = await queryClient.fetchQuery({ ...customerChoicesQuery(text), retry: false });
    return data.slice(0, 6).map((customer) => ({
      id: `customer ${customer.customerId}`,
      label: customer.name,
      description: [customer.email, countryName(customer.country)].filter(Boolean).join(' · '),
      to: paths.customers,
      search: { search: customer.name },
    }));
  },
};
