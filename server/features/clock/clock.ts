import type { ClockState } from '../../../contract/clock.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import { clockJump } from '../../checked-time.ts';
import { countPurgeable } from '../releases/index.ts';

/** How long a person has to confirm the displayed time. */
const confirmWithinMs = 10 * 60_000;

/** The clock of this process, and the latest time in the database if the two are too far apart. */
export async function clockState(db: Db, now: Date): Promise<ClockState> {
  const jump = await clockJump(db, now);
  if (!jump) return { now: now.toISOString(), newest: null, releasesDue: 0 };
  const releasesDue = await countPurgeable(db, now);
  return { now: now.toISOString(), newest: jump.newest.toISOString(), releasesDue };
}

/**
 * Records a person's confirmation that the clock is right, so that deletions continue. WRONG_STATE if the clock of this
 * process differs from the one the person saw. No effect if there is no clock jump.
 */
export async function confirmClock(
  { tx, now, audit, announce }: Change,
  seen: Date,
): Promise<ClockState | Failure> {
  await tx.selectFrom('newest_moment').select('at').forUpdate().execute();
  const jump = await clockJump(tx, now);
  if (!jump) return clockState(tx, now);
  if (Math.abs(now.getTime() - seen.getTime()) > confirmWithinMs)
    return fail(
      'WRONG_STATE',
      `The clock of the server that answers says ${now.toISOString()}, which is not the time that you confirm. ` +
        'Where several processes serve, one of them has a wrong clock.',
    );
  await tx.updateTable('newest_moment').set({ at: now }).execute();
  // deferrals that waited for this are over
  await announce('policies');
  await audit('clock.confirmed', null, {
    what: `confirmed that ${now.toISOString()} is right; the database had last seen ${jump.newest.toISOString()}`,
    before: { newest: jump.newest },
    after: { newest: now },
  });
  return clockState(tx, now);
}
