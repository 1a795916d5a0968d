import { systemChange, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import { freeEndedSeats } from '../activations/index.ts';
import { lockLicenseRow } from '../licenses/index.ts';

/**
 * Frees the seats of offline machines whose license files have ended. A validation that needs a seat does the same for
 * its license, so this serves the lists and the audit log. Returns how many.
 */
export async function endOfflineSeats(context: ChangeParts, { now }: CheckedTime): Promise<number> {
  const due = await context.db
    .selectFrom('activations')
    .select('license_id')
    .distinct()
    .where('status', '=', 'active')
    .where('offline_until', '<=', now)
    .execute();
  let freed = 0;
  for (const { license_id: licenseId } of due)
    freed += await systemChange(context, now, async (change) => {
      await lockLicenseRow(change.tx, licenseId);
      return freeEndedSeats(change, licenseId);
    });
  return freed;
}
