import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { dayMs } from '../contract/durations.ts';
import { networkOf } from './address.ts';
import type { Caller } from './caller.ts';
import { systemChange, type ChangeParts } from './change.ts';
import { clearBefore } from './checked-time.ts';
import type { Db } from './db/client.ts';
import type { Secrets } from './secrets.ts';

const quarter = 15 * 60_000;
const hour = 60 * 60_000;

/** Maximum failures within a window before attempts are refused, see decision 27. */
const limits = {
  /** One account from one address: attackers lock out only themselves. */
  pair: { most: 10, windowMs: quarter },
  /** One address for all accounts; an office shares one. */
  address: { most: 100, windowMs: quarter },
  /** One account from all addresses, except devices that it signed in on before. */
  account: { most: 100, windowMs: hour },
  /** One account on a device that it signed in on before. */
  device: { most: 10, windowMs: quarter },
  /** Codes of one second factor from all addresses: the attacker already knows the password. */
  code: { most: 10, windowMs: quarter },
  /** The current password, or the code of a new second factor, within an open session. */
  session: { most: 10, windowMs: quarter },
  /** Different unknown license keys of one address, when machines enroll. */
  licenseKey: { most: 30, windowMs: quarter },
  /** Tries of one such key: the machines of a deleted license keep asking, which is no guessing. */
  unknownKey: { most: 100, windowMs: quarter },
} as const;

/** A counter of failures. */
export type Counter = { kind: keyof typeof limits; of: string };

/**
 * The counters of a sign-in. `account` is the email of the matching account, or else the typed text; `deviceId` a
 * device on which that account signed in before. Typed text may be a password, so that only its HMAC is stored.
 */
export function signInCounters(
  secrets: Secrets,
  { ip }: Caller,
  account: string,
  deviceId: string | undefined,
): Counter[] {
  const meant = secrets.sign('account', folded(account)).toString('hex');
  if (deviceId !== undefined) return [{ kind: 'device', of: `${deviceId} ${meant}` }];
  const network = networkOf(ip);
  return [
    { kind: 'pair', of: `${network} ${meant}` },
    { kind: 'address', of: network },
    { kind: 'account', of: meant },
  ];
}

/** Ignores case and accents, so that no spelling of an email has a counter of its own. */
const folded = (email: string) => email.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '');

/**
 * Seconds to wait when one of the counters has reached its limit, else undefined. Checked before the password and again
 * after a right one: concurrent guesses that are verified after the limit reveal nothing.
 */
export async function secondsToWait(db: Db, counters: Counter[], now: Date): Promise<number | undefined> {
  return longestWait(counters, await countsOf(db, counters, now), now, (failures, most) => failures >= most);
}

async function countsOf(db: Db, counters: Counter[], now: Date): Promise<Count[]> {
  const rows = counters.map(
    (counter) => sql`(${subjectOf(counter)}, ${windowOf(counter, now)}::timestamptz)`,
  );
  const { rows: found } = await sql<Count>`
    select subject, failures from login_failures
     where (subject, window_start) in (${sql.join(rows)})`.execute(db);
  return found;
}

/**
 * Counts a failed attempt in each of the counters; only failures count. Returns seconds to wait when concurrent
 * failures have reached a limit: wrong guesses beyond it must get the same response as the right one.
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

/**
 * Counts a try of an unknown license key: each key once for its address, and each try for the key. Returns seconds to
 * wait when one of the two limits is reached; keys beyond the limit of the address are not stored.
 */
export async function countUnknownKey(
  parts: ChangeParts,
  { ip, now }: Caller,
  licenseKey: string,
): Promise<number | undefined> {
  const network = networkOf(ip);
  const address: Counter = { kind: 'licenseKey', of: network };
  const key: Counter = { kind: 'unknownKey', of: `${network} ${hash('sha256', licenseKey)}` };
  const found = await countsOf(parts.db, [key, address], now);
  const isTriedAgain = found.some(({ subject }) => subject === subjectOf(key));
  const wait = longestWait([isTriedAgain ? key : address], found, now, (count, most) => count >= most);
  if (wait !== undefined) return wait;
  // one statement, so that tries of a key at once count it once
  const { rows } = await systemChange(parts, now, ({ tx }) =>
    sql<Count>`
      with tries as (
        insert into login_failures (subject, window_start, failures)
        values (${subjectOf(key)}, ${windowOf(key, now)}::timestamptz, 1)
        on conflict (subject, window_start) do update set failures = login_failures.failures + 1
        returning subject, failures),
      keys as (
        insert into login_failures (subject, window_start, failures)
        select ${subjectOf(address)}, ${windowOf(address, now)}::timestamptz, 1 from tries where failures = 1
        on conflict (subject, window_start) do update set failures = login_failures.failures + 1
        returning subject, failures)
      select * from tries union all select * from keys`.execute(tx),
  );
  return longestWait([key, address], rows, now, (failures, most) => failures > most);
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

/** Removes windows that started more than a day ago, longer than any limit. */
export const clearFailures = clearBefore('login_failures', 'window_start', dayMs);
