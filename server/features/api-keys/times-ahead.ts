import type { Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';

/**
 * Sets to now the last use of keys that a clock that was ahead left in the future: until then, no use would be the last
 * one. Keys in use are written all the time; one that is locked is for the next hour.
 */
export async function endKeyTimesAhead({ tx }: Change, time: CheckedTime): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ last_used_at: time.now })
    .where('api_key_id', 'in', (eb) =>
      eb
        .selectFrom('api_keys')
        .select('api_key_id')
        .where('last_used_at', '>', aheadOf(time))
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}
