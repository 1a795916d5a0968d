import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KyselyPlugin } from 'kysely';
import type { Db, Tx } from '../../db/client.ts';

/** What signs for this installation; validation has it. */
export type AuditSigner = { keyId: string; publicKeyPem: string; sign(text: string): string };

/** Keys that are no part of the database: who can change its rows still cannot make them look like ours. */
export type AuditKeys = { entry: Buffer; seal: Buffer; signer: AuditSigner };

/** Derives the keys of the audit log from the signing key. An Ed25519 signature of a fixed text is itself a secret. */
export function auditKeys(signer: AuditSigner): AuditKeys {
  const secret = signer.sign('lanyard audit keys 1');
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  return { entry: derive('entry'), seal: derive('seal'), signer };
}

/** HMAC-SHA-256. */
export const macOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Whether `mac` is the HMAC of `text` under one of the keys. */
export const isMacOf = (keys: Buffer[], text: string, mac: Buffer): boolean =>
  keys.some((key) => mac.length === 32 && timingSafeEqual(macOf(key, text), mac));

/** A database whose audit entries are signed with the key of `signer`; its transactions are, too. */
export function withAuditKey(db: Db, signer: AuditSigner): Db {
  return db.withPlugin(new AuditKeyPlugin(auditKeys(signer).entry));
}

/** The key that entries written through `tx` are signed with; undefined where `withAuditKey` gave none. */
export function entryKeyOf(tx: Db | Tx): Buffer | undefined {
  const plugin = tx.getExecutor().plugins.find((one) => one instanceof AuditKeyPlugin);
  return plugin?.key;
}

/** Changes no query: it carries the key to where a transaction is all that there is. */
class AuditKeyPlugin implements KyselyPlugin {
  readonly key: Buffer;
  constructor(key: Buffer) {
    this.key = key;
  }
  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node;
  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;
}
