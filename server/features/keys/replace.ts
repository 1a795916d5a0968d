import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCaller } from '../../caller.ts';
import { CannotStart } from '../../cannot-start.ts';
import type { Db, Tx } from '../../db/client.ts';
import { announce, labelsOfProcesses } from '../../db/signals.ts';
import { readOrMake } from '../../key-file.ts';
import { writeAudit } from '../audit/audit.ts';
import { nameKey, readKeys, type NamedKey } from './claim.ts';
import { keyFiles, tidyFiles, type KeyConfig } from './given.ts';
import { newSigningKey, readSigners, signJson, type Signer } from '../../signer.ts';

export type Rotated = { keyId: string; before: string; isInUse: boolean };

type RotateOptions = { prepare: boolean; out: string | undefined; now: Date; patienceMs?: number };

/**
 * Makes the next signing key, has the present one endorse it, and lets it sign in all processes; with `prepare` it is
 * only published, for a desktop release to bring it along. A key that was prepared, or that lies in
 * `next-signing-key.pem`, is taken. `out`: where a new key is written when keys come from SIGNING_KEY. `db` signs audit
 * entries with the present key. Throws CannotStart, with the key prepared, when a process that serves the database does
 * not have it within `patienceMs`: it would take the answers and entries of the others for forged.
 */
export async function rotateKey(
  db: Db,
  config: KeyConfig,
  { prepare, out, now, patienceMs = 5000 }: RotateOptions,
): Promise<Rotated> {
  const { present, next } = await db.transaction().execute(async (tx) => {
    const { given, rows } = await readKeys(tx, config);
    const held = (row: NamedKey | undefined) =>
      row && given.signing.all.find(({ keyId }) => keyId === row.key_id);
    const inState = (state: NamedKey['state']) =>
      rows.find((row) => row.purpose === 'signing' && row.state === state);
    const current = held(inState('current'))!;
    const prepared = inState('next');
    if (prepared && !held(prepared))
      throw new CannotStart(
        `The next key ${prepared.key_id} was prepared, and is not in ${placeOfNext(config)}. Bring it there.`,
      );
    const found = held(prepared) ?? (await prepareNext(tx, { config, present: current, out, now }));
    // also where it was prepared before: files may have been brought since
    await announce(tx, 'keys');
    return { present: current, next: found };
  });
  const rotated = { keyId: next.keyId, before: present.keyId, isInUse: !prepare };
  if (prepare) return rotated;
  const until = performance.now() + patienceMs;
  while ((await lackingProcesses(db, next)) > 0 && performance.now() < until) await sleep(100);
  await db.transaction().execute(async (tx) => {
    // a process that starts meanwhile waits for the lock, and has no label yet
    await readKeys(tx, config);
    const lacking = await lackingProcesses(tx, next);
    if (lacking > 0) throw new CannotStart(notEverywhere(config, next, lacking));
    await takeIntoUse(tx, present, next, now);
    await tidyFiles(config, next.keyId);
    await announce(tx, 'keys');
  });
  return rotated;
}

const lackingProcesses = async (db: Db | Tx, { keyId }: Signer): Promise<number> =>
  (await labelsOfProcesses(db)).filter((label) => label !== keyId).length;

const notEverywhere = (config: KeyConfig, { keyId }: Signer, lacking: number): string =>
  `The next signing key ${keyId} is published, and ${lacking} of the processes that serve this database ` +
  `${lacking === 1 ? 'does' : 'do'} not have it, so the present key still signs. ` +
  (config.signingKey
    ? 'Give each SIGNING_KEY with both keys and start it again; then run this again.'
    : `Copy ${placeOfNext(config)} into the DATA_DIR of each; then run this again.`);

const placeOfNext = (config: KeyConfig) =>
  config.signingKey ? 'SIGNING_KEY' : keyFiles(config.dataDir).next;

/** What one key says of another, so that who trusts the first can trust the second. */
export function endorse(by: Signer, key: Signer, now: Date) {
  const { signed, signature } = signJson(by, {
    // no other text that this key signs says so
    purpose: 'lanyard signing key',
    keyId: key.keyId,
    algorithm: 'Ed25519',
    publicKeyPem: key.publicKeyPem,
    endorsedBy: by.keyId,
    endorsedAt: now.toISOString(),
  });
  return { endorsed_by: by.keyId, endorsement: signed, signature };
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
  const setState = async (key: Signer, from: NamedKey['state'], set: Partial<NamedKey>) => {
    const { numUpdatedRows } = await tx
      .updateTable('installation_keys')
      .set(set)
      .where('purpose', '=', 'signing')
      .where('key_id', '=', key.keyId)
      .where('state', '=', from)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new CannotStart('Another rotation was faster. See which key signs now.');
  };
  await setState(present, 'current', { state: 'retired', ended_at: now });
  await setState(next, 'next', { state: 'current' });
  await writeAudit(tx, systemCaller(now), {
    event: 'key.rotated',
    resourceType: 'key',
    resourceId: next.keyId,
    summary: `Replaced the signing key ${present.keyId} by ${next.keyId}`,
    before: { keyId: present.keyId },
    after: { keyId: next.keyId },
  });
}
