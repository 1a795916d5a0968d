import { sql, type RawBuilder } from 'kysely';
import { dayMs } from '../contract/durations.ts';
import type { Change } from './change.ts';
import type { Db, Tx } from './db/client.ts';
import type { Tables } from './db/tables.ts';

/** The maximum difference between the clock and the latest time that the database has seen. */
const mostJumpMs = dayMs;

declare const isChecked: unique symbol;

/**
 * A current time that was compared with the latest time in the database. Code that permanently deletes old data or
 * widens rollouts must take its time from here. Only `checkClock` creates one, so the check cannot be skipped.
 */
export type CheckedTime = { readonly now: Date; readonly [isChecked]: true };

/** The clock is more than a day from the latest time that the database has seen: one of them is wrong. */
type ClockJump = { jump: true; now: Date; newest: Date };

export const isJump = (time: CheckedTime | ClockJump): time is ClockJump => 'jump' in time;

/**
 * Compares a clock with the latest time that the database has seen, and advances the latter. If they are more than a
 * day apart, nothing is written: a wrong clock and a long downtime look the same, and a person must decide.
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

/** The latest time that the database has seen; undefined before the first check. */
export const newestTime = async (db: Db): Promise<Date | undefined> =>
  (await db.selectFrom('newest_moment').select('at').executeTakeFirst())?.at;

/** Both times if they are more than a day apart. */
export async function clockJump(db: Db, now: Date): Promise<ClockJump | undefined> {
  const newest = await newestTime(db);
  if (!newest || Math.abs(now.getTime() - newest.getTime()) <= mostJumpMs) return undefined;
  return { jump: true, now, newest };
}

/** As many rows as a slow disk deletes within the time limit of a statement. */
export const clearedAtOnce = 20_000;

/**
 * Deletes rows whose time in `column` is more than `ms` ago, and returns how many: `clearedAtOnce` if there may be more,
 * which are for the next transaction.
 */
export const clearBefore =
  <T extends keyof Tables>(table: T, column: string & keyof Tables[T], ms: number) =>
  async ({ tx }: Change, { now }: CheckedTime): Promise<number> => {
    const isOld = sql`${sql.ref(column)} < ${new Date(now.getTime() - ms)}`;
    // the condition again for a row that another transaction has just renewed
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ${isOld}
         and ctid = any(array(select ctid from ${sql.table(table)} where ${isOld} limit ${clearedAtOnce}))`.execute(
      tx,
    );
    return Number(numAffectedRows);
  };

/** Two checked clocks differ by less: what lies after this was written by a process whose clock was ahead. */
export const aheadOf = ({ now }: CheckedTime): Date => new Date(now.getTime() + mostJumpMs);

/**
 * Whether a time that is never corrected, such as that of an audit entry, lies between `from` and now. What a clock that was
 * ahead wrote is left out, else it would be of the last hours for as long as that clock was ahead.
 */
export const isWithin = (column: string, from: Date, now: Date): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} >= ${from} and ${sql.ref(column)} <= ${new Date(now.getTime() + mostJumpMs)})`;

/**
 * The clock, or the latest time that the database has seen: a clock that is set back opens no change request again, and
 * begins no hours of a step and no days of a deferral in the past.
 */
export async function latestTime(db: Db, now: Date): Promise<Date> {
  return new Date(Math.max(now.getTime(), (await newestTime(db))?.getTime() ?? 0));
}

/** The clock, or the latest that it can be by what the database has seen: nothing is over because a clock jumped. */
export const plausibleTime = (now: Date, newest: Date | undefined): Date =>
  newest === undefined ? now : new Date(Math.min(now.getTime(), newest.getTime() + mostJumpMs));

/** The same for a call: a license file has not ended because a clock jumped. */
export const plausibleNow = async (db: Db, now: Date): Promise<Date> =>
  plausibleTime(now, await newestTime(db));

/** The sentence for the log and for responses to calls that need a checked time. */
export const jumpSentence = ({ now, newest }: ClockJump): string =>
  `The clock of this server says ${now.toISOString()}, and the database last saw ${newest.toISOString()}. ` +
  'Nothing is deleted for good, and no rollout takes its next step, until the clock is set right, or an administrator confirms it in the console.';
