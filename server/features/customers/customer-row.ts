import { sql, type Selectable } from 'kysely';
import { addToList } from '../../add-to-list.ts';
import { anyOf } from '../../db/sql.ts';
import type { Customer } from '../../../contract/customers.ts';
import type { Db } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';

/** The columns of all responses about a customer, for select and returning. */
export const customerColumns = [
  'customer_id',
  'name',
  'contact_name',
  'email',
  'phone',
  'country',
  'type',
  'status',
  'inherit_licenses',
  'deleted_at',
  'created_at',
  'updated_at',
  sql<number>`(select count(*) from licenses l where l.customer_id = customers.customer_id)`.as(
    'license_count',
  ),
] as const;

/** Adds the licenses of each customer. */
export async function withLicenses(db: Db, customers: Customer[]): Promise<Customer[]> {
  if (customers.length === 0) return [];
  const rows = await db
    .selectFrom('licenses')
    .select(['customer_id', 'license_id', 'license_key', 'module_ids'])
    .where('customer_id', '=', anyOf(customers.map((c) => c.customerId)))
    .orderBy('created_at')
    .orderBy('license_id')
    .execute();
  const byCustomer = new Map<string, NonNullable<Customer['licenses']>>();
  for (const { customer_id, license_id: licenseId, license_key: licenseKey, module_ids: moduleIds } of rows)
    addToList(byCustomer, customer_id, { licenseId, licenseKey, moduleIds });
  return customers.map((c) => ({ ...c, licenses: byCustomer.get(c.customerId) ?? [] }));
}

type CustomerRow = Selectable<Tables['customers']> & { license_count: number };

export function toCustomer(row: CustomerRow): Customer {
  return {
    customerId: row.customer_id,
    name: row.name,
    contactName: row.contact_name,
    email: row.email,
    phone: row.phone,
    country: row.country,
    type: row.type,
    status: row.status,
    inheritLicenses: row.inherit_licenses,
    deletedAt: row.deleted_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    licenseCount: row.license_count,
  };
}
