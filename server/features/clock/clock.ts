import type { ClockState } from '../../../contract/clock.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import { clockJump } from '../../checked-time.ts';
import { countPurgeable } from '../releases/index.ts';

/** A person reads the time and confirms it within this. */
const patienceMs = 10 * 60_000;

/** The clock of this process, and what the database has seen where the two are too far apart. */
export async function clockState(db: Db, now: Date): Promise<ClockState> {
  const jump = await clockJump(db, now);
  if (!jump) return { now: now.toISOString(), newest: null, releasesDue: 0 };
  const releasesDue = await countPurgeable(db, now);
  return { now: now.toISOString(), newest: jump.newest.toISOString(), releasesDue };
}

/**
 * Takes the word of a person that the clock is right: deletions go on from there. WRONG_STATE when the process that
 * answers has another clock than the one that the person saw. Changes nothing when the clock fits.
 */
export async function confirmClock({ tx, now, audit }: Change, seen: Date): Promise<ClockState | Failure> {
  await tx.selectFrom('newest_moment').select('at').forUpdate().execute();
  const jump = await clockJump(tx, now);
  if (!jump) return clockState(tx, now);
  if (Math.abs(now.getTime() - seen.getTime()) > patienceMs)
    return fail(
      'WRONG_STATE',
      `The clock of the server that answers says ${now.toISOString()}, which is not the time that you confirm. ` +
        'Where several processes serve, one of them has a wrong clock.',
    );
  await tx.updateTable('newest_moment').set({ at: now }).execute();
  await audit('clock.confirmed', null, {
    what: `confirmed that ${now.toISOString()} is right; the database had last seen ${jump.newest.toISOString()}`,
    before: { newest: jump.newest },
    after: { newest: now },
  });
  return clockState(tx, now);
}
