import type { License } from '../../../contract/licenses.ts';
import type { Db, Tx } from '../../db/client.ts';

/** Licenses with their owner, the source of every response about a license. */
export function selectLicenses(db: Db) {
  return db
    .selectFrom('licenses as l')
    .innerJoin('customers as c', 'c.customer_id', 'l.customer_id')
    .select(['l.license_id', 'l.license_key', 'l.customer_id', 'l.type', 'l.status', 'l.module_ids'])
    .select(['l.valid_from', 'l.valid_until', 'l.max_activations', 'l.current_activations'])
    .select([
      'l.created_at',
      'l.updated_at',
      'c.name as customer_name',
      'c.deleted_at as customer_deleted_at',
    ]);
}

export type LicenseRow = Awaited<ReturnType<ReturnType<typeof selectLicenses>['executeTakeFirstOrThrow']>>;

/** The same, with times as `isoTimes` reads them. */
export type LicenseTextRow = {
  [Name in keyof LicenseRow]: Date extends LicenseRow[Name]
    ? Exclude<LicenseRow[Name], Date> | string
    : LicenseRow[Name];
};

const iso = (time: Date | string): string => (typeof time === 'string' ? time : time.toISOString());

/** A row in the format of the contract. */
export function toLicense(row: LicenseRow | LicenseTextRow): License {
  return {
    licenseId: row.license_id,
    licenseKey: row.license_key,
    customerId: row.customer_id,
    customer: { name: row.customer_name, deletedAt: row.customer_deleted_at && iso(row.customer_deleted_at) },
    type: row.type,
    status: row.status,
    validFrom: iso(row.valid_from),
    validUntil: iso(row.valid_until),
    maxActivations: row.max_activations,
    currentActivations: row.current_activations,
    moduleIds: row.module_ids,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

/**
 * The license, locked against every other change until the transaction ends. The customer is not locked: code that
 * locks both locks the customer first.
 */
export async function lockLicense(tx: Tx, licenseId: string): Promise<License | undefined> {
  await lockLicenseRow(tx, licenseId);
  const row = await selectLicenses(tx).where('l.license_id', '=', licenseId).executeTakeFirst();
  return row && toLicense(row);
}

/**
 * Locks a license by itself. Not in the query that joins its customer: after waiting for a transfer, PostgreSQL would
 * compare the new customer with the row of the old one, and find nothing.
 */
export const lockLicenseRow = (tx: Tx, licenseId: string) =>
  tx.selectFrom('licenses').select('license_id').where('license_id', '=', licenseId).forUpdate().execute();
