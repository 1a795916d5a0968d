import { sql } from 'kysely';
import type { LicenseImpact } from '../../../contract/licenses.ts';
import type { Db } from '../../db/client.ts';
import { recordHash } from '../../db/sql.ts';
import { onlyRow } from '../../invariants.ts';

/**
 * Counts licenses, and the machines that depend on their status: those that hold a seat on a license that is in its
 * term and whose customer is active. Revoking refuses them, reactivating accepts them again. `offline`: those that run by
 * a license file until it ends, whatever the status is. Machines of two customers that proved themselves with one id are
 * two (docs/decisions/046-machine-credentials.md).
 */
export const impactOfLicenses = (db: Db, now: Date, ids: readonly string[]): Promise<LicenseImpact> =>
  count(db, now, sql`l.license_id = any(${ids}::uuid[])`, sql`c.status = 'active' and c.deleted_at is null`);

/**
 * The same for all licenses of these customers, counting the machines that depend on the customer's status: those on
 * licenses that are active and in their term. Deleting the customers refuses them, restoring accepts them again.
 */
export const impactOfCustomers = (db: Db, now: Date, ids: readonly string[]): Promise<LicenseImpact> =>
  count(db, now, sql`l.customer_id = any(${ids}::uuid[])`, sql`l.status = 'active'`);

async function count(
  db: Db,
  now: Date,
  which: ReturnType<typeof sql>,
  otherwiseAccepted: ReturnType<typeof sql>,
): Promise<LicenseImpact> {
  const isAccepted = sql`${now} between l.valid_from and l.valid_until and ${otherwiseAccepted}`;
  const isOffline = sql`coalesce(a.offline_until >= ${now}, false)`;
  const machines = sql`count(distinct ${recordHash('k', 'a')})`;
  const { rows } = await sql<LicenseImpact>`
    select count(distinct l.license_id) as licenses,
           ${machines} filter (where ${isAccepted} and not ${isOffline}) as machines,
           ${machines} filter (where ${isOffline}) as offline
      from licenses l
      join customers c on c.customer_id = l.customer_id
      left join activations a on a.license_id = l.license_id and a.status = 'active'
      left join machine_credentials k using (activation_id)
     where ${which}`.execute(db);
  return onlyRow({ rows });
}
