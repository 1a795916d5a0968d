import { sql } from 'kysely';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';

const windowMs = 15 * 60_000;
/** Failures in a window after which sign-in is refused; an office shares one address. */
const mostFailures = { account: 10, address: 100 };

const subjectsOf = (by: Caller, email: string) => ({
  account: `account:${email.toLowerCase()}`,
  address: `address:${by.ip}`,
});

const windowOf = (now: Date) => new Date(Math.floor(now.getTime() / windowMs) * windowMs);

/**
 * Seconds to wait when the account or the address has failed too often in this window, else undefined. Asked
 * before the password is looked at and again when it was right: of many guesses sent at once, those that are
 * verified after the limit was reached tell nothing.
 */
export async function secondsToWait(db: Db | Tx, by: Caller, email: string): Promise<number | undefined> {
  const { account, address } = subjectsOf(by, email);
  const start = windowOf(by.now);
  const { rows } = await sql<Count>`
    select subject, failures from login_failures
     where window_start = ${start} and subject in (${account}, ${address})`.execute(db);
  return rows.some((row) => row.failures >= limitOf(row)) ? untilWindowEnds(by.now) : undefined;
}

/**
 * Counts a failed attempt for the account and for the address; only failures count. Answers
 * seconds to wait when others failed meanwhile and this one is beyond the limit: of many guesses sent at once, the
 * wrong ones past it must be answered like the right one.
 */
export async function countFailure(db: Db, by: Caller, email: string): Promise<number | undefined> {
  const { account, address } = subjectsOf(by, email);
  const start = windowOf(by.now);
  const { rows } = await sql<Count>`
    insert into login_failures (subject, window_start, failures)
    values (${account}, ${start}, 1), (${address}, ${start}, 1)
    on conflict (subject, window_start) do update set failures = login_failures.failures + 1
    returning subject, failures`.execute(db);
  return rows.some((row) => row.failures > limitOf(row)) ? untilWindowEnds(by.now) : undefined;
}

type Count = { subject: string; failures: number };

const limitOf = ({ subject }: Count) => mostFailures[subject.startsWith('account:') ? 'account' : 'address'];

const untilWindowEnds = (now: Date) => Math.ceil((windowOf(now).getTime() + windowMs - now.getTime()) / 1000);
