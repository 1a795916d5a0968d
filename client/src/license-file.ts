import { createHash, type KeyObject } from 'node:crypto';
import type { NoReply } from './http.ts';
import { isSignedBy, readJws } from './jws.ts';
import { canonicalKey } from './license-key.ts';

/** The claims of a license file. Times are milliseconds since 1970. */
export type LicenseFile = {
  jti: string;
  modules: string[];
  issuedAt: number;
  notBefore: number;
  endsAt: number;
  /** How long after its end the program may still run. */
  graceMs: number;
  /** `jti` of the request that it was made for; undefined in files of a service that did not say it yet. */
  request: string | undefined;
};

/** Why a license file does not count. */
export type FileFault =
  'UNREADABLE' | 'UNKNOWN_KEY' | 'BAD_SIGNATURE' | 'OTHER_MACHINE' | 'OTHER_LICENSE' | 'OTHER_MACHINE_KEY';

/** Whom a license file must be for; `publicKey` is the machine's, base64url. */
export type Holder = { licenseKey: string; machineId: string; publicKey: string };

const dayMs = 86_400_000;

export const machineHash = (machineId: string) => createHash('sha256').update(machineId).digest('hex');

/** Verifies a license file and returns its claims, or why it does not count on this machine. Its times are not checked. */
export async function readLicenseFile(
  text: string,
  keys: { find(keyId: string, endorsements?: unknown): Promise<KeyObject | NoReply | undefined> },
  holder: Holder,
): Promise<LicenseFile | FileFault> {
  const jws = readJws(text, 'lanyard-license+jwt');
  if (!jws) return 'UNREADABLE';
  const key = await keys.find(jws.kid ?? '', jws.endorsements);
  if (!key || 'problem' in key) return 'UNKNOWN_KEY';
  if (!isSignedBy(jws, key)) return 'BAD_SIGNATURE';
  const { sub, jti, machine, modules, iat, nbf, exp, grace } = jws.claims;
  if (typeof sub !== 'string' || typeof jti !== 'string' || !Array.isArray(modules)) return 'UNREADABLE';
  if (!isCount(iat) || !isCount(nbf) || !isCount(exp) || !isCount(grace)) return 'UNREADABLE';
  if (canonicalKey(sub) !== canonicalKey(holder.licenseKey)) return 'OTHER_LICENSE';
  if (machine !== machineHash(holder.machineId)) return 'OTHER_MACHINE';
  if (jws.claims['key'] !== holder.publicKey) return 'OTHER_MACHINE_KEY';
  return {
    jti,
    modules: modules.map(String),
    issuedAt: iat * 1000,
    notBefore: nbf * 1000,
    endsAt: exp * 1000,
    graceMs: grace * dayMs,
    request: typeof jws.claims['request'] === 'string' ? jws.claims['request'] : undefined,
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
