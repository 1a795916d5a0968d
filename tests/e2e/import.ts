import type { Customer } from '../../contract/customers.ts';
import { imports } from '../../contract/imports.ts';
import { licenses, type License } from '../../contract/licenses.ts';
import type { Api } from '../api-client.ts';

/** Makes a customer of each name, in one call. */
export function importCustomers(admin: Api, names: string[], country = 'DE') {
  const csv = ['Company Name,Country', ...names.map((name) => `${name},${country}`)].join('\n');
  return admin.ok(imports.customers, { body: { csv, skipExisting: false } });
}

/** Makes a license of two modules until each of these days, in one call, and returns them as the list has them. */
export async function importLicenses(
  admin: Api,
  { customerId, name }: Pick<Customer, 'customerId' | 'name'>,
  days: string[],
): Promise<License[]> {
  const rows = days.map((until) => `${name},3,${until},mod_lung_nodule;mod_diabetes`);
  const csv = ['Customer,Max Activations,Valid Until,Modules', ...rows].join('\n');
  await admin.ok(imports.licenses, { body: { csv, createCustomers: false } });
  return admin.ok(licenses.list, { query: { customerId, limit: String(days.length) } });
}
