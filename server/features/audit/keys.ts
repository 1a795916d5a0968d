import { createHmac, hkdfSync, timingSafeEqual, verify } from 'node:crypto';
import type { KyselyPlugin } from 'kysely';
import type { Db, Tx } from '../../db/client.ts';

/** What signs for this installation; validation has it. */
export type AuditSigner = { keyId: string; publicKeyPem: string; sign(text: string): string };

/** `retention` is what opens the retention switch of the database. */
type KeySet = { entry: Buffer; seal: Buffer; retention: Buffer; signer: AuditSigner };

/**
 * Keys that are no part of the database: who can change its rows still cannot make them look like ours. `known` are
 * those whose work still counts: the current ones and those of retired signing keys.
 */
export type AuditKeys = { current: KeySet; known: KeySet[] };

/** Derives the keys of the audit log from the signing key. An Ed25519 signature of a fixed text is itself a secret. */
export function auditKeys(signer: AuditSigner, retired: AuditSigner[] = []): AuditKeys {
  const current = derive(signer);
  return { current, known: [current, ...retired.map(derive)] };
}

/** Has all that hold `keys` work with another signing key from now on. */
export const exchangeKeys = (keys: AuditKeys, signer: AuditSigner, retired: AuditSigner[]): void =>
  void Object.assign(keys, auditKeys(signer, retired));

function derive(signer: AuditSigner): KeySet {
  const secret = signer.sign('lanyard audit keys 1');
  const key = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  return { entry: key('entry'), seal: key('seal'), retention: key('retention'), signer };
}

/** HMAC-SHA-256. */
export const macOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Whether `mac` is the HMAC of `text` under a known key of that purpose. */
export const isMacOf = (
  { known }: AuditKeys,
  purpose: 'entry' | 'seal',
  text: string,
  mac: Buffer,
): boolean => mac.length === 32 && known.some((keys) => timingSafeEqual(macOf(keys[purpose], text), mac));

/** Whether one of our signing keys signed `text`. */
export function isSignedBy({ known }: AuditKeys, keyId: string, text: string, signature: string): boolean {
  const signer = known.map((keys) => keys.signer).find((one) => one.keyId === keyId);
  return (
    signer !== undefined &&
    verify(null, Buffer.from(text), signer.publicKeyPem, Buffer.from(signature, 'base64'))
  );
}

/** A database whose audit entries are signed with what is the current key then; its transactions are, too. */
export function withAuditKey<D extends Db | Tx>(db: D, keys: AuditKeys): D {
  return db.withPlugin(new AuditKeyPlugin(keys)) as D;
}

/** The key that entries written through `tx` are signed with; undefined where `withAuditKey` gave none. */
export function entryKeyOf(tx: Db | Tx): Buffer | undefined {
  const plugin = tx.getExecutor().plugins.find((one) => one instanceof AuditKeyPlugin);
  return plugin?.keys.current.entry;
}

/** Changes no query: it carries the keys to where a transaction is all that there is. */
class AuditKeyPlugin implements KyselyPlugin {
  readonly keys: AuditKeys;
  constructor(keys: AuditKeys) {
    this.keys = keys;
  }
  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node;
  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;
}
