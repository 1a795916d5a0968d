import { sql } from 'kysely';
import { systemChange, type Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { tryEach } from '../../try-each.ts';
import { freeEndedSeats } from '../activations/index.ts';
import { lockLicenseRow } from '../licenses/index.ts';

/**
 * Frees the seats of offline machines whose license files have ended. A validation that needs a seat does the same for
 * its license, so this serves the lists and the audit log. Returns how many.
 */
export async function endOfflineSeats(
  context: Pick<Context, 'db' | 'signals' | 'writeEntry' | 'config' | 'log'>,
  { now }: CheckedTime,
): Promise<number> {
  const due = await context.db
    .selectFrom('activations')
    .select('license_id')
    .distinct()
    .where('status', '=', 'active')
    .where('offline_until', '<=', now)
    .execute();
  let freed = 0;
  await tryEach(
    due,
    async ({ license_id: licenseId }) => {
      freed += await systemChange(context, now, async (change) => {
        await lockLicenseRow(change.tx, licenseId);
        return freeEndedSeats(change, licenseId, context.config);
      });
    },
    (error, { license_id: licenseId }) =>
      context.log.error({ err: error, licenseId }, 'The offline seats of a license were not freed'),
  );
  return freed;
}

/**
 * Sets to now, in their order, when license files were issued by a clock that was ahead: else a machine that validated in
 * that time would seem to have done so before its receipt. The seat of a machine that was answered then ends with its
 * files again.
 */
export async function endFileTimesAhead({ tx }: Change, time: CheckedTime): Promise<void> {
  const ahead = aheadOf(time);
  await sql`
    with wrong as (
      select file_id, activation_id, row_number() over (partition by activation_id order by issued_at) as nth
        from license_files where issued_at > ${ahead})
    update license_files f
       set issued_at = w.nth * interval '1 millisecond' + greatest(${time.now}::timestamptz, (
         select max(r.issued_at) from license_files r
          where r.activation_id = w.activation_id and r.issued_at <= ${ahead}))
      from wrong w where f.file_id = w.file_id`.execute(tx);
  // An answer holds a seat for a day, and one from before a file for less than that beyond it. In the order in which the
  // recorder of validations locks them; then the files are read anew, as one may have been issued meanwhile.
  const lastEnds = sql`select activation_id, max(ends_at) as ends_at from license_files group by activation_id`;
  const isTooLate = sql`a.offline_until > greatest(f.ends_at, ${ahead}) + interval '1 day'`;
  const { rows: held } = await sql<{ id: string }>`
    select a.activation_id as id from activations a join (${lastEnds}) f using (activation_id)
     where ${isTooLate} order by a.activation_id for update of a`.execute(tx);
  await sql`
    update activations a set offline_until = greatest(f.ends_at, ${time.now})
      from (${lastEnds}) f
     where a.activation_id = f.activation_id and ${isTooLate}
       and a.activation_id = any(${held.map(({ id }) => id)}::uuid[])`.execute(tx);
}
