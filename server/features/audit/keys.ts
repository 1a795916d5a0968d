import { createHmac, hkdfSync, timingSafeEqual, verify } from 'node:crypto';
import type { Signer } from '../../signer.ts';

/** `retention` opens the retention switch of the database. */
type KeySet = { entry: Buffer; seal: Buffer; retention: Buffer; signer: Signer };

/**
 * Keys stored outside of the database, so that rows changed in it fail verification. `known` are the keys accepted for
 * verification: the current ones and those of retired signing keys.
 */
export type AuditKeys = { current: KeySet; known: KeySet[] };

/** Derives the keys of the audit log from the signing key: an Ed25519 signature of a fixed text is itself a secret. */
export function auditKeys(signer: Signer, retired: Signer[] = []): AuditKeys {
  const current = derive(signer);
  return { current, known: [current, ...retired.map(derive)] };
}

/** Switches all holders of `keys` to another signing key. */
export const exchangeKeys = (keys: AuditKeys, signer: Signer, retired: Signer[]): void =>
  void Object.assign(keys, auditKeys(signer, retired));

function derive(signer: Signer): KeySet {
  const secret = signer.sign('lanyard audit keys 1');
  const key = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  return { entry: key('entry'), seal: key('seal'), retention: key('retention'), signer };
}

export const macOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Whether `mac` is the HMAC of `text` under a known key for that purpose. */
export const isMacOf = (
  { known }: AuditKeys,
  purpose: 'entry' | 'seal',
  text: string,
  mac: Buffer,
): boolean => mac.length === 32 && known.some((keys) => timingSafeEqual(macOf(keys[purpose], text), mac));

/** Whether one of our signing keys signed `text`. */
export function isSignedByUs({ known }: AuditKeys, keyId: string, text: string, signature: string): boolean {
  const signer = known.map((keys) => keys.signer).find((one) => one.keyId === keyId);
  return (
    signer !== undefined &&
    verify(null, Buffer.from(text), signer.publicKeyPem, Buffer.from(signature, 'base64'))
  );
}
