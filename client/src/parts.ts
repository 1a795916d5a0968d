import { signedAnswerIn, type SignedAnswer } from './answer.ts';
import type { Http } from './http.ts';
import type { Secrets } from './identity.ts';
import { noTimes, type Times } from './evaluate-kept.ts';
import { jsonObject } from './jws.ts';
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

const decisionFile = 'decision.json';
const timesFile = 'times.json';

/** The last answer that the server signed for this license. */
export async function readKeptAnswer({ store, licenseKey }: Kept): Promise<SignedAnswer | undefined> {
  const kept = jsonObject(await store.read(decisionFile));
  return kept?.['licenseKey'] === licenseKey ? signedAnswerIn(kept) : undefined;
}

/** Keeps an answer for later, or none. Returns the problem, if there is one. */
export function keepAnswer(
  { store, licenseKey }: Kept,
  answer: SignedAnswer | undefined,
): Promise<string | undefined> {
  if (!answer) return store.remove(decisionFile);
  return store.write(decisionFile, JSON.stringify({ licenseKey, ...answer }));
}

/** The times that this machine has seen; undefined if there are none, which only tampering does to a machine with a key. */
export async function readTimes({ store, licenseKey }: Kept): Promise<Times | undefined> {
  return timesIn(await store.read(timesFile), licenseKey);
}

function timesIn(text: string | undefined, licenseKey: string): Times | undefined {
  const { signed, seen, refused, licenseKey: refusedLicense } = jsonObject(text) ?? {};
  if (!isTime(signed) || !isTime(seen) || !isTime(refused)) return undefined;
  return { signed, seen, refused: refusedLicense === licenseKey ? refused : 0 };
}

const isTime = (value: unknown): value is number => Number.isFinite(value);

/** Whether the times are gone, and not only held by a virus scanner. */
export async function areTimesGone({ store, licenseKey }: Kept): Promise<boolean> {
  const text = await store.read(timesFile);
  return text === undefined ? !(await store.has(timesFile)) : !timesIn(text, licenseKey);
}

/** Returns the problem, if there is one. */
export async function writeTimes(parts: Kept, times: Times): Promise<string | undefined> {
  const { store, licenseKey } = parts;
  const text = JSON.stringify({ licenseKey, ...times });
  return JSON.stringify(await readTimes(parts)) === JSON.stringify(times)
    ? undefined
    : store.write(timesFile, text);
}

/**
 * Makes the record of times before the first key of the machine, so that a key without it shows that it was removed. An
 * answer that was kept beside a record that is gone does not come back with a new one. Returns the problem.
 */
export async function beginTimes(parts: Kept): Promise<string | undefined> {
  if (!(await areTimesGone(parts))) return undefined;
  return (await keepAnswer(parts, undefined)) ?? writeTimes(parts, noTimes);
}
