import { sign, verify, type KeyObject } from 'node:crypto';

/** A compact JWS (RFC 7515) that was taken apart; its signature is not checked yet. */
export type Jws = {
  kid: string | undefined;
  /** Endorsements of the key `kid`, for a machine that cannot ask for them; whatever the header says. */
  endorsements: unknown;
  claims: Record<string, unknown>;
  /** The text that the signature covers. */
  signed: string;
  signature: Buffer;
};

/** Signs claims as a compact JWS of this type with an Ed25519 key. */
export function signJws(privateKey: KeyObject, typ: string, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
  const signed = `${part({ alg: 'EdDSA', typ })}.${part(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed, 'ascii'), privateKey).toString('base64url')}`;
}

/**
 * Takes a compact JWS apart. White space and invisible characters, as pasted text has them, are ignored. Undefined for
 * anything that is not a JWS of this type with the algorithm EdDSA, or that has a `crit` header.
 */
export function readJws(text: string, typ: string): Jws | undefined {
  const parts = text.replaceAll(/[\s\p{Cf}]/gu, '').split('.');
  const [head = '', body = '', end = ''] = parts;
  const header = jsonObject(bytesOf(head));
  const claims = jsonObject(bytesOf(body));
  const signature = bytesOf(end);
  if (parts.length !== 3 || !header || !claims || !signature) return undefined;
  if (header['alg'] !== 'EdDSA' || header['typ'] !== typ || 'crit' in header) return undefined;
  const kid = header['kid'];
  return {
    kid: typeof kid === 'string' ? kid : undefined,
    endorsements: header['endorsements'],
    claims,
    signed: `${head}.${body}`,
    signature,
  };
}

/** Whether this key made the signature of a JWS. */
export function isSignedBy(jws: Jws, publicKey: KeyObject): boolean {
  return verify(null, Buffer.from(jws.signed, 'ascii'), publicKey, jws.signature);
}

/** The bytes of base64url without padding. Undefined for a second spelling of the same bytes: a byte was altered. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** The JSON object in a text or in bytes; undefined for everything else. */
export function jsonObject(text: Buffer | string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A time as claims have it: whole seconds since 1970. */
export const wholeSeconds = (time: Date) => Math.floor(time.getTime() / 1000);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
