import { sql } from 'kysely';
import { networkOf } from '../../address.ts';
import type { Caller } from '../../caller.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';

const quarter = 15 * 60_000;
const hour = 60 * 60_000;

/** Failures within a window after which no more is tried, see decision 27. */
const limits = {
  /** One account from one address: a guesser locks out nobody but themself. */
  pair: { most: 10, windowMs: quarter },
  /** One address, whatever the account; an office shares one. */
  address: { most: 100, windowMs: quarter },
  /** One account from all addresses together, but for devices that it signed in on before. */
  account: { most: 100, windowMs: hour },
  /** One account on a device that it signed in on before. */
  device: { most: 10, windowMs: quarter },
  /** Codes of one second factor, whatever the address: who tries them knows the password. */
  code: { most: 10, windowMs: quarter },
  /** The current password, asked for within an open session. */
  session: { most: 10, windowMs: quarter },
} as const;

/** Where a failure counts. */
export type Counter = { kind: keyof typeof limits; of: string };

/**
 * The counters of a sign-in. `account` is the email of the account that is really meant, whatever was typed, or else
 * what was typed; `deviceId` a device on which that account signed in before.
 */
export function signInCounters({ ip }: Caller, account: string, deviceId: string | undefined): Counter[] {
  const meant = folded(account);
  if (deviceId !== undefined) return [{ kind: 'device', of: `${deviceId} ${meant}` }];
  const network = networkOf(ip);
  return [
    { kind: 'pair', of: `${network} ${meant}` },
    { kind: 'address', of: network },
    { kind: 'account', of: meant },
  ];
}

/** Letters that differ by case or accent alone are one: no spelling of an email has a counter of its own. */
const folded = (email: string) => email.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '');

/**
 * Seconds to wait when one of the counters has reached its limit, else undefined. Asked before the password is
 * looked at and again when it was right: of many guesses sent at once, those that are verified after the limit was
 * reached tell nothing.
 */
export async function secondsToWait(db: Db, counters: Counter[], now: Date): Promise<number | undefined> {
  const rows = counters.map(
    (counter) => sql`(${subjectOf(counter)}, ${windowOf(counter, now)}::timestamptz)`,
  );
  const { rows: found } = await sql<Count>`
    select subject, failures from login_failures
     where (subject, window_start) in (${sql.join(rows)})`.execute(db);
  return longestWait(counters, found, now, (failures, most) => failures >= most);
}

/**
 * Counts a failed attempt in each of the counters; only failures count. Answers seconds to wait when others failed
 * meanwhile and this one is beyond a limit: of many guesses sent at once, the wrong ones past it must be answered
 * like the right one.
 */
export async function countFailure(
  parts: ChangeParts,
  counters: Counter[],
  now: Date,
): Promise<number | undefined> {
  const rows = counters.map(
    (counter) => sql`(${subjectOf(counter)}, ${windowOf(counter, now)}::timestamptz, 1)`,
  );
  const { rows: counted } = await systemChange(parts, now, ({ tx }) =>
    sql<Count>`
      insert into login_failures (subject, window_start, failures)
      values ${sql.join(rows)}
      on conflict (subject, window_start) do update set failures = login_failures.failures + 1
      returning subject, failures`.execute(tx),
  );
  return longestWait(counters, counted, now, (failures, most) => failures > most);
}

type Count = { subject: string; failures: number };

const subjectOf = ({ kind, of }: Counter) => `${kind}:${of}`;

const windowOf = ({ kind }: Counter, now: Date) => {
  const { windowMs } = limits[kind];
  return new Date(Math.floor(now.getTime() / windowMs) * windowMs);
};

function longestWait(
  counters: Counter[],
  counts: Count[],
  now: Date,
  isOver: (failures: number, most: number) => boolean,
): number | undefined {
  const waits = counters.flatMap((counter) => {
    const { most, windowMs } = limits[counter.kind];
    const count = counts.find(({ subject }) => subject === subjectOf(counter));
    if (!count || !isOver(count.failures, most)) return [];
    return Math.ceil((windowOf(counter, now).getTime() + windowMs - now.getTime()) / 1000);
  });
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** Forgets windows that began more than a day ago: none is as long. */
export async function clearFailures({ tx }: Change, { now }: CheckedTime): Promise<void> {
  const dayAgo = new Date(now.getTime() - 24 * 3_600_000);
  await tx.deleteFrom('login_failures').where('window_start', '<', dayAgo).execute();
}
