import type { Selectable } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { isMacOf, macOf, type AuditKeys } from './keys.ts';

/** The seal before the first entry. */
export const noSeal = Buffer.alloc(32);

export type Seal = Omit<Selectable<Tables['audit_seals']>, 'seal'>;

/** The seal over an entry and the previous seal. It is keyed, so that a changed chain cannot be sealed again. */
export function sealText({ sequence, audit_id, entry_hash, previous_seal, sealed_at }: Seal): string {
  return [
    'lanyard audit seal 1',
    sequence,
    audit_id,
    entry_hash.toString('hex'),
    previous_seal.toString('hex'),
    sealed_at.toISOString(),
  ].join('\n');
}

export const sealOf = (key: Buffer, seal: Seal): Buffer => macOf(key, sealText(seal));

/** The end of the chain. Entries up to `unsigned_until` predate the signing of entries. */
export type Head = { sequence: number; seal: Buffer; unsigned_until: number; retention_days: number };
export type SignedHead = Head & { mac: Buffer };

/** The text that the mac of the head covers. */
const headText = ({ sequence, seal, unsigned_until, retention_days }: Head): string =>
  ['lanyard audit head 2', sequence, seal.toString('hex'), unsigned_until, retention_days].join('\n');

/** The format before the retention was included; valid once, when an old chain is adopted. */
export const oldHeadText = ({ sequence, seal, unsigned_until }: Omit<Head, 'retention_days'>): string =>
  ['lanyard audit head 1', sequence, seal.toString('hex'), unsigned_until].join('\n');

export const signHead = ({ current }: AuditKeys, head: Head): SignedHead => ({
  sequence: head.sequence,
  seal: head.seal,
  unsigned_until: head.unsigned_until,
  retention_days: head.retention_days,
  mac: macOf(current.seal, headText(head)),
});

export const isOurHead = (keys: AuditKeys, head: Head & { mac: Buffer | null }): head is SignedHead =>
  head.mac !== null && isMacOf(keys, 'seal', headText(head), head.mac);

export type Anchor = Omit<Selectable<Tables['audit_anchors']>, 'signature'>;

/** The text that the signature of an anchor covers. */
export const anchorText = (anchor: Anchor): string =>
  [
    'lanyard audit anchor 1',
    anchor.sequence,
    anchor.seal.toString('hex'),
    anchor.removed,
    anchor.before.toISOString(),
    anchor.made_at.toISOString(),
    anchor.key_id,
  ].join('\n');
