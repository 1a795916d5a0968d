import type { Db } from '../../db/client.ts';

/** The newest license file of a machine that holds its seat and may run by the file at `now`. */
export const heldLicenseFile = (
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
    .where('f.returned_at', 'is', null)
    .where('f.ends_at', '>', now)
    .orderBy('f.issued_at', 'desc')
    .executeTakeFirst();
