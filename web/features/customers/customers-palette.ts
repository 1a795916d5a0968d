import { countryName } from '../../../contract/countries.ts';
import { customerPath, paths } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconBuilding } from '../../ui/icons.tsx';
import { findCustomers } from './queries.ts';

/** Customers in the command palette: found by name or email, and a command to create one. */
const customersPalette: PaletteSource = {
  group: 'Customers',
  icon: IconBuilding,
  resource: 'customers',
  list: (search) => ({ to: paths.customers, search: { search } }),
  creates: [
    { id: 'customers create', label: 'Create Customer', to: paths.customers, search: { dialog: 'create' } },
  ],
  find: async (text, signal) => {
    const { data } = await findCustomers(text, mostFound, signal);
    return data.map((customer) => ({
      id: `customer ${customer.customerId}`,
      label: customer.name,
      description: [customer.email, countryName(customer.country)].filter(Boolean).join(' · '),
      to: customerPath(customer.customerId),
    }));
  },
};
export default customersPalette;
