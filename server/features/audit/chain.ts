import { macOf } from './keys.ts';

/** Where the chain begins. */
export const noSeal = Buffer.alloc(32);

export type Seal = {
  sequence: number;
  audit_id: string;
  entry_hash: Buffer;
  previous_seal: Buffer;
  sealed_at: Date;
};

/** The seal over an entry and the seal before: with a key, so that a changed chain cannot be sealed again. */
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

export type Head = { sequence: number; seal: Buffer; unsigned_until: number };

/** What the mac of the head says. */
export const headText = ({ sequence, seal, unsigned_until }: Head): string =>
  ['lanyard audit head 1', sequence, seal.toString('hex'), unsigned_until].join('\n');

export type Anchor = {
  sequence: number;
  seal: Buffer;
  removed: number;
  before: Date;
  made_at: Date;
  key_id: string;
};

/** What the signature of an anchor says. */
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
