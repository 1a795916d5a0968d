import { plausibleNow } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';

/**
 * The newest license file whose key a machine is bound to at `now`: one that has not ended, and was issued for the seat
 * that the machine holds. The end of the seat unbinds the key (`leaveSeat`).
 */
export const heldLicenseFile = async (
  db: Db,
  { licenseId, machineId }: { licenseId: string; machineId: string },
  now: Date,
) =>
  db
    .selectFrom('activations as a')
    .innerJoin('license_files as f', 'f.activation_id', 'a.activation_id')
    .select(['f.public_key', 'f.ends_at'])
    .where('a.license_id', '=', licenseId)
    .where('a.machine_id', '=', machineId)
    .where('a.status', '=', 'active')
    .where('f.binds_key', '=', true)
    .where('f.ends_at', '>', await plausibleNow(db, now))
    .orderBy('f.issued_at', 'desc')
    .executeTakeFirst();
