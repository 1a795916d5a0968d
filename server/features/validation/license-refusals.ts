import { sql } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import type { Change } from '../../change.ts';
import { aheadOf, clearBefore, type CheckedTime } from '../../checked-time.ts';
import type { Tx } from '../../db/client.ts';
import { inKeyOrder } from '../../db/key-order.ts';
import type { Answered } from './day-counts.ts';

/** The refusals that end when staff extend the license, or give it more seats. */
const noted = ['EXPIRED', 'TOO_MANY_ACTIVATIONS'] as const;

/** A machine may ask every minute: its row is not written each time. */
const precision = '5 minutes';

/** Longer than any list looks back. */
const keptMs = 30 * dayMs;

/** Notes when each license last refused a machine, so that lists need not read the validations. */
export async function noteRefusals(tx: Tx, rows: readonly Answered[]): Promise<void> {
  const latest = new Map<string, { licenseId: string; code: string; at: Date }>();
  for (const { licenseId, code, at } of rows) {
    if (licenseId === null || !noted.some((one) => one === code)) continue;
    const key = `${licenseId} ${code}`;
    const known = latest.get(key);
    if (!known || known.at < at) latest.set(key, { licenseId, code, at });
  }
  if (latest.size === 0) return;
  const last = inKeyOrder(latest).map(([, refusal]) => refusal);
  await sql`
    insert into license_refusals as r (license_id, code, last_at)
    select * from unnest(${last.map((r) => r.licenseId)}::uuid[], ${last.map((r) => r.code)}::text[],
                         ${last.map((r) => r.at)}::timestamptz[])
    on conflict (license_id, code) do update set last_at = excluded.last_at
      where r.last_at < excluded.last_at - ${precision}::interval`.execute(tx);
}

/** Deletes refusals that no list shows anymore, and sets to now what a clock that was ahead left in the future. */
export async function clearRefusals(change: Change, time: CheckedTime): Promise<number> {
  await change.tx
    .updateTable('license_refusals')
    .set({ last_at: time.now })
    .where('last_at', '>', aheadOf(time))
    .execute();
  return clearBefore('license_refusals', 'last_at', keptMs)(change, time);
}
