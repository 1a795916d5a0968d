import { signedAnswerIn, type SignedAnswer } from './answer.ts';
import type { Http } from './http.ts';
import type { Secrets } from './identity.ts';
import type { Times } from './judge-kept.ts';
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

const decisionFile = 'decision.json';
const timesFile = 'times.json';

/** The last answer that the server signed for this license. */
export async function readKeptAnswer({ store, licenseKey }: Parts): Promise<SignedAnswer | undefined> {
  const kept = jsonObject(await store.read(decisionFile));
  return kept?.['licenseKey'] === licenseKey ? signedAnswerIn(kept) : undefined;
}

/** Keeps an answer for later, or none. Returns the problem, if there is one. */
export function keepAnswer(
  { store, licenseKey }: Parts,
  answer: SignedAnswer | undefined,
): Promise<string | undefined> {
  if (!answer) return store.remove(decisionFile);
  return store.write(decisionFile, JSON.stringify({ licenseKey, ...answer }));
}

/** The times that this machine has seen; a damaged file is as good as none. */
export async function readTimes({ store, licenseKey }: Parts): Promise<Times> {
  const kept = jsonObject(await store.read(timesFile));
  const of = (name: string) => (Number.isFinite(kept?.[name]) ? Number(kept?.[name]) : 0);
  const refused = kept?.['licenseKey'] === licenseKey ? of('refused') : 0;
  return { signed: of('signed'), seen: of('seen'), refused };
}

/** Returns the problem, if there is one. */
export async function writeTimes(parts: Parts, times: Times): Promise<string | undefined> {
  const { store, licenseKey } = parts;
  const text = JSON.stringify({ licenseKey, ...times });
  return JSON.stringify(await readTimes(parts)) === JSON.stringify(times)
    ? undefined
    : store.write(timesFile, text);
}
