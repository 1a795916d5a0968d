import { sql } from 'kysely';
import type { Db, Tx } from './db/client.ts';

const dayMs = 86_400_000;

/** How far the clock may be from the newest moment that the database has seen. */
export const mostJumpMs = dayMs;

declare const isChecked: unique symbol;

/**
 * A present time that was compared with what the database has seen. Whatever is deleted for good because of its age
 * takes the time from here, and only `checkClock` makes one: so nothing forgets to ask.
 */
export type CheckedTime = { readonly now: Date; readonly [isChecked]: true };

/** The clock is more than a day from the newest moment that the database has seen: one of them is wrong. */
export type ClockJump = { jump: true; now: Date; newest: Date };

export const isJump = (time: CheckedTime | ClockJump): time is ClockJump => 'jump' in time;

/**
 * Compares a clock with the newest moment that the database has seen, which moves on with it. Where they are more than
 * a day apart nothing moves: the clock may be wrong, or the service was off for long, and only a person can tell.
 */
export async function checkClock(tx: Tx, now: Date): Promise<CheckedTime | ClockJump> {
  const { rows } = await sql`
    insert into newest_moment (at) values (${now})
    on conflict (only_row) do update set at = greatest(newest_moment.at, excluded.at)
      where abs(extract(epoch from newest_moment.at - excluded.at)) * 1000 <= ${mostJumpMs}
    returning at`.execute(tx);
  if (rows.length > 0) return { now } as CheckedTime;
  const newest = await tx.selectFrom('newest_moment').select('at').executeTakeFirstOrThrow();
  return { jump: true, now, newest: newest.at };
}

/** How far the clock is from that moment, where it is too far: milliseconds, negative when the clock is behind. */
export async function clockJump(db: Db, now: Date): Promise<ClockJump | undefined> {
  const newest = await db.selectFrom('newest_moment').select('at').executeTakeFirst();
  if (!newest || Math.abs(now.getTime() - newest.at.getTime()) <= mostJumpMs) return undefined;
  return { jump: true, now, newest: newest.at };
}

/** What a person is told who reads the log, or whose call waits for it. */
export const jumpSentence = ({ now, newest }: ClockJump): string =>
  `The clock of this server says ${now.toISOString()}, and the database last saw ${newest.toISOString()}. ` +
  'Nothing is deleted for good until the clock is set right, or an administrator confirms it in the console.';
