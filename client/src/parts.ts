import { signedAnswerIn, type SignedAnswer } from './answer.ts';
import type { Http } from './http.ts';
import type { Secrets } from './identity.ts';
import { noTimes, type Times } from './evaluate-kept.ts';
import { isObject, jsonObject } from './jws.ts';
import type { KeyRing } from './keys.ts';
import type { Store } from './store.ts';
import type { Facts } from './types.ts';

/** What the functions of the client work with. */
export type Parts = {
  server: string;
  /** Canonical. */
  licenseKey: string;
  facts: Facts;
  timeoutMs: number;
  /** The files of this machine. */
  store: Store;
  http: Http;
  keys: KeyRing;
  secrets: Secrets;
  machineId(): Promise<string>;
  now(): Date;
  /** From 0 to 1. */
  random(): number;
};

type Kept = Pick<Parts, 'store' | 'licenseKey'>;

/** As by a virus scanner. What it has of other licenses must not be replaced. */
const isHeld = (name: string) => `The file ${name} cannot be read at the moment, and was left as it is.`;

/** Why a file that is there cannot be read at the moment. Its content must not be taken for none. */
export const whyHeld = async ({ store }: Pick<Kept, 'store'>, name: string): Promise<string | undefined> =>
  (await store.read(name)) === undefined && (await store.has(name)) ? isHeld(name) : undefined;

const decisionFile = 'decision.json';
const timesFile = 'times.json';

/** The last answer that the server signed for this license. */
export async function readKeptAnswer({ store, licenseKey }: Kept): Promise<SignedAnswer | undefined> {
  return signedAnswerIn(jsonObject(await store.read(decisionFile))?.[licenseKey]);
}

/**
 * Keeps an answer for later, or none; those for other licenses stay: a license key that was mistyped once must not cost
 * the answer for the right one. Returns the problem, if there is one.
 */
export async function keepAnswer(
  { store, licenseKey }: Kept,
  answer: SignedAnswer | undefined,
): Promise<string | undefined> {
  const text = await store.read(decisionFile);
  if (text === undefined && (await store.has(decisionFile))) return isHeld(decisionFile);
  const { [licenseKey]: before, ...others } = jsonObject(text) ?? {};
  if (!answer && Object.keys(others).length === 0) return store.remove(decisionFile);
  return answer || before
    ? store.write(decisionFile, JSON.stringify({ ...others, ...(answer && { [licenseKey]: answer }) }))
    : undefined;
}

/** The record of times: one clock for all licenses, and for each the time of its refusal. */
type TimesRecord = Pick<Times, 'signed' | 'seen'> & {
  refused: Record<string, number>;
  /** The last request for a license file, until the next signed time comes; `seen`: the time seen when it was made. */
  asked?: Asked | undefined;
};

type Asked = { jti: string; seen: number };

/** A file for an older request may have been kept for the day on which the clock is set back. */
const mostSeenSinceAskedMs = 7 * 86_400_000;

/** What is refused of a license that has no entry of its own. */
const others = '*';

/** The times that this machine has seen; undefined if there are none, which only tampering does to a machine with a key. */
export async function readTimes({ store, licenseKey }: Kept): Promise<Times | undefined> {
  const record = timesIn(await store.read(timesFile));
  if (!record) return undefined;
  const { signed, seen } = record;
  return { signed, seen, refused: record.refused[licenseKey] ?? record.refused[others] ?? 0 };
}

function timesIn(text: string | undefined): TimesRecord | undefined {
  const { signed, seen, refused, asked } = jsonObject(text) ?? {};
  if (!isTime(signed) || !isTime(seen)) return undefined;
  if (!isObject(refused) || !Object.values(refused).every(isTime)) return undefined;
  return { signed, seen, refused: refused as Record<string, number>, asked: askedIn(asked) };
}

function askedIn(value: unknown): Asked | undefined {
  const { jti, seen } = isObject(value) ? value : {};
  return typeof jti === 'string' && isTime(seen) ? { jti, seen } : undefined;
}

const isTime = (value: unknown): value is number => Number.isFinite(value);

/** Whether the times are gone, and not only held by a virus scanner. */
export async function areTimesGone({ store }: Kept): Promise<boolean> {
  const text = await store.read(timesFile);
  return text === undefined ? !(await store.has(timesFile)) : !timesIn(text);
}

/**
 * Writes the times; the refusals of other licenses stay. Where their record was gone, so are those: what was signed for
 * other licenses before no longer counts. `isAnswered`: the license file for the last request has come. Returns the
 * problem, if there is one.
 */
export async function writeTimes(
  { store, licenseKey }: Kept,
  { signed, seen, refused }: Times,
  isAnswered = false,
): Promise<string | undefined> {
  const text = await store.read(timesFile);
  if (text === undefined && (await store.has(timesFile))) return isHeld(timesFile);
  const before = timesIn(text);
  // what the server signed since may be newer than a file for it
  const asked = isAnswered || before?.signed !== signed ? undefined : before.asked;
  const record: TimesRecord = {
    signed,
    seen,
    refused: { ...(before?.refused ?? { [others]: signed }), [licenseKey]: refused },
    // where the time goes back, that of the request does, too: else it would count for longer
    asked: asked && { jti: asked.jti, seen: Math.min(asked.seen, seen) },
  };
  const written = JSON.stringify(record);
  return written === text ? undefined : store.write(timesFile, written);
}

/** The id of the last request for which a license file still shows the time. */
export async function openRequest({ store }: Kept): Promise<string | undefined> {
  const { asked, seen } = timesIn(await store.read(timesFile)) ?? {};
  const isOpen = asked && seen !== undefined && seen <= asked.seen + mostSeenSinceAskedMs;
  return isOpen ? asked.jti : undefined;
}

/** Without a record of times that can be read and written, the file for the request shows no time. */
export async function keepRequest({ store }: Kept, jti: string): Promise<void> {
  const record = timesIn(await store.read(timesFile));
  if (record) await store.write(timesFile, JSON.stringify({ ...record, asked: { jti, seen: record.seen } }));
}

/**
 * Makes the record of times before the first key of the machine, so that a key without it shows that it was removed. An
 * answer that was kept beside a record that is gone does not come back with a new one. Returns the problem.
 */
export async function beginTimes(parts: Kept): Promise<string | undefined> {
  if (timesIn(await parts.store.read(timesFile))) return undefined;
  const held = await whyHeld(parts, timesFile);
  if (held !== undefined) return held;
  return (await parts.store.remove(decisionFile)) ?? writeTimes(parts, noTimes);
}
