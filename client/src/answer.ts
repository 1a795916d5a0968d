import { verify } from 'node:crypto';
import type { NoReply } from './http.ts';
import { isObject, jsonObject } from './jws.ts';
import type { KeyRing } from './keys.ts';
import { canonicalKey } from './license-key.ts';

/** A decision of the server, as signed. Times are milliseconds since 1970. */
export type Decision = {
  valid: boolean;
  code: string;
  message: string;
  modules: string[];
  issuedAt: number;
  expiresAt: number;
  /** When the license ends. */
  validUntil: number | undefined;
  /** Whether the machine holds a seat, also where it may not run. */
  holdsSeat: boolean;
};

export type SignedAnswer = { signed: string; signature: string; keyId: string };

/** Why an answer does not count. */
type AnswerFault =
  'UNREADABLE' | 'UNKNOWN_KEY' | 'BAD_SIGNATURE' | 'OTHER_NONCE' | 'OTHER_MACHINE' | 'OTHER_LICENSE';

/** What an answer must be about. `nonce` is undefined for a kept answer, whose nonce was checked when it came. */
export type Expected = { licenseKey: string; machineId: string; nonce: string | undefined };

/** The three signed fields of the response to a validation or enrollment; undefined if it has none. */
export function signedAnswerIn(data: unknown): SignedAnswer | undefined {
  if (!isObject(data)) return undefined;
  const { signed, signature, keyId } = data;
  const isSigned = typeof signed === 'string' && typeof signature === 'string' && typeof keyId === 'string';
  return isSigned ? { signed, signature, keyId } : undefined;
}

/**
 * Verifies an answer and returns its decision, or why it does not count; a problem where nobody could say whether the
 * server has this key. Reads nothing that is not signed.
 */
export async function readAnswer(
  { signed, signature, keyId }: SignedAnswer,
  keys: KeyRing,
  expected: Expected,
): Promise<Decision | AnswerFault | NoReply> {
  const key = await keys.find(keyId);
  if (!key) return 'UNKNOWN_KEY';
  if ('problem' in key) return key;
  if (!verify(null, Buffer.from(signed, 'utf8'), key, Buffer.from(signature, 'base64')))
    return 'BAD_SIGNATURE';
  const said = jsonObject(signed);
  const decision = said && decisionIn(said);
  if (!said || !decision) return 'UNREADABLE';
  if (expected.nonce !== undefined && said['nonce'] !== expected.nonce) return 'OTHER_NONCE';
  if (said['machineId'] !== expected.machineId) return 'OTHER_MACHINE';
  const license = said['license'];
  // a refusal for a key that no license has names no license
  const isOther = isObject(license)
    ? canonicalKey(String(license['licenseKey'])) !== canonicalKey(expected.licenseKey)
    : decision.valid;
  return isOther ? 'OTHER_LICENSE' : decision;
}

function decisionIn(said: Record<string, unknown>): Decision | undefined {
  const { valid, code, message, license } = said;
  const [issuedAt, expiresAt] = [timeIn(said['issuedAt']), timeIn(said['expiresAt'])];
  if (typeof valid !== 'boolean' || typeof code !== 'string' || typeof message !== 'string') return undefined;
  if (issuedAt === undefined || expiresAt === undefined || valid !== (code === 'VALID')) return undefined;
  const listed = isObject(license) && Array.isArray(license['modules']) ? license['modules'] : [];
  const modules = listed.map((module) => String(isObject(module) ? module['moduleId'] : module));
  const validUntil = isObject(license) ? timeIn(license['validUntil']) : undefined;
  const { activation } = said;
  const holdsSeat = isObject(activation) && activation['status'] === 'active';
  return { valid, code, message, modules, issuedAt, expiresAt, validUntil, holdsSeat };
}

function timeIn(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
