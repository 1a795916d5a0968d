import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { systemCaller } from '../../caller.ts';
import { CannotStart } from '../../cannot-start.ts';
import type { Db, Tx } from '../../db/client.ts';
import { readOrMake } from '../../key-file.ts';
import { writeAudit } from '../audit/audit.ts';
import { nameKey, readKeys, type NamedKey } from './claim.ts';
import { keyFiles, type KeyConfig } from './given.ts';
import { newSigningKey, readSigners, type Signer } from './signer.ts';

export type Rotated = { keyId: string; before: string; isInUse: boolean };

/**
 * Makes the next signing key, has the present one endorse it, and lets it sign from the next start on; with `prepare` it
 * is only published, for a desktop release to bring it along. A key that was prepared, or that lies in
 * `next-signing-key.pem`, is taken. `out`: where a new key is written when keys come from SIGNING_KEY. `db` signs audit
 * entries with the present key. No process may serve the database meanwhile, unless with `prepare`.
 */
export async function rotateKey(
  db: Db,
  config: KeyConfig,
  { prepare, out, now }: { prepare: boolean; out: string | undefined; now: Date },
): Promise<Rotated> {
  const rotated = await db.transaction().execute(async (tx) => {
    const { given, rows } = await readKeys(tx, config);
    const held = (row: NamedKey | undefined) =>
      row && given.signing.all.find(({ keyId }) => keyId === row.key_id);
    const inState = (state: NamedKey['state']) =>
      rows.find((row) => row.purpose === 'signing' && row.state === state);
    const present = held(inState('current'))!;
    const prepared = inState('next');
    if (prepared && !held(prepared))
      throw new CannotStart(
        `The next key ${prepared.key_id} was prepared, and is not in ${placeOfNext(config)}. Bring it there.`,
      );
    const next = held(prepared) ?? (await prepareNext(tx, { config, present, out, now }));
    if (!prepare) await takeIntoUse(tx, present, next, now);
    return { keyId: next.keyId, before: present.keyId, isInUse: !prepare };
  });
  if (rotated.isInUse && !config.signingKey) await moveFiles(config.dataDir, rotated.before);
  return rotated;
}

const placeOfNext = (config: KeyConfig) =>
  config.signingKey ? 'SIGNING_KEY' : keyFiles(config.dataDir).next;

/** What one key says of another, so that who trusts the first can trust the second. */
export function endorse(by: Signer, key: Signer, now: Date) {
  const endorsement = JSON.stringify({
    // no other text that this key signs says so
    purpose: 'lanyard signing key',
    keyId: key.keyId,
    algorithm: 'Ed25519',
    publicKeyPem: key.publicKeyPem,
    endorsedBy: by.keyId,
    endorsedAt: now.toISOString(),
  });
  return { endorsed_by: by.keyId, endorsement, signature: by.sign(endorsement) };
}

async function prepareNext(
  tx: Tx,
  { config, present, out, now }: { config: KeyConfig; present: Signer; out: string | undefined; now: Date },
): Promise<Signer> {
  if (config.signingKey && !out)
    throw new CannotStart('Keys come from SIGNING_KEY: say where the new one goes, with --out FILE.');
  const file = config.signingKey ? path.resolve(out!) : keyFiles(config.dataDir).next;
  const next = readSigners(await readOrMake(file, newSigningKey), file)[0]!;
  await nameKey(tx, {
    purpose: 'signing',
    key: next,
    state: 'next',
    endorsed: endorse(present, next, now),
    now,
  });
  await writeAudit(tx, systemCaller(now), {
    event: 'key.prepared',
    resourceType: 'key',
    resourceId: next.keyId,
    summary: `Prepared the signing key ${next.keyId}, endorsed by ${present.keyId}`,
    after: { keyId: next.keyId, endorsedBy: present.keyId },
  });
  return next;
}

async function takeIntoUse(tx: Tx, present: Signer, next: Signer, now: Date): Promise<void> {
  const setState = (key: Signer, set: Partial<NamedKey>) =>
    tx
      .updateTable('installation_keys')
      .set(set)
      .where('purpose', '=', 'signing')
      .where('key_id', '=', key.keyId)
      .execute();
  await setState(present, { state: 'retired', ended_at: now });
  await setState(next, { state: 'current' });
  await writeAudit(tx, systemCaller(now), {
    event: 'key.rotated',
    resourceType: 'key',
    resourceId: next.keyId,
    summary: `Replaced the signing key ${present.keyId} by ${next.keyId}`,
    before: { keyId: present.keyId },
    after: { keyId: next.keyId },
  });
}

/** Only tidies: a start finds the key that the database names under any of these names. */
async function moveFiles(dataDir: string, retired: string): Promise<void> {
  const files = keyFiles(dataDir);
  await mkdir(files.retired, { recursive: true, mode: 0o700 });
  await rename(files.signing, path.join(files.retired, `${retired}.pem`));
  await rename(files.next, files.signing);
}
