import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CannotStart } from '../../cannot-start.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { labelsOfProcesses } from '../../db/signals.ts';
import { registerKey, readKeys, signingIn, withId, type RegisteredKey } from './claim.ts';
import { keyFiles, tidyFiles, type KeyConfig } from './local-keys.ts';
import { present } from '../../invariants.ts';
import { readOrMakeSigner, signJson, type Signer } from '../../signer.ts';

type RotateOptions = { prepare: boolean; out: string | undefined; now: Date };

/** How long the other processes may take to load a new key. */
const loadMs = 5000;

/**
 * Creates the next signing key, endorsed by the current one, and makes all processes sign with it; with `prepare` it is
 * only published, so that a desktop release can include it. Uses a prepared key or the one in `next-signing-key.pem` if
 * there is one. `out` is the file for a new key when keys come from SIGNING_KEY. `parts` sign audit entries with the
 * current key. Throws CannotStart, with the key prepared, when a process that serves the database does not have it
 * within 5 s (times the limit factor): it would reject responses and entries of the others as forged.
 */
export async function rotateKey(
  parts: ChangeParts,
  config: KeyConfig,
  { prepare, out, now }: RotateOptions,
): Promise<{ keyId: string; before: string }> {
  const { current, next } = await systemChange(parts, now, async (change) => {
    const { tx } = change;
    const { local, rows } = await readKeys(tx, config);
    const held = (row: RegisteredKey | undefined) => withId(local.signing.all, row?.key_id);
    const signing = held(signingIn(rows, 'current'));
    const signer = present(signing, 'without its current key the command does not start');
    const prepared = signingIn(rows, 'next');
    if (prepared && !held(prepared))
      throw new CannotStart(
        `The next key ${prepared.key_id} was prepared, and is not in ${placeOfNext(config)}. Bring it there.`,
      );
    const found = held(prepared) ?? (await prepareNext(change, { config, current: signer, out }));
    // also for a prepared key: its files may have been added since
    await change.announce('keys');
    return { current: signer, next: found };
  });
  const rotated = { keyId: next.keyId, before: current.keyId };
  if (prepare) return rotated;
  const until = performance.now() + loadMs * (parts.config?.databaseLimitFactor ?? 1);
  while ((await lackingProcesses(parts.db, next)) > 0 && performance.now() < until) await sleep(100);
  await systemChange(parts, now, async (change) => {
    const { tx } = change;
    // a process that starts meanwhile waits for the lock, and has no label yet
    await readKeys(tx, config);
    const lacking = await lackingProcesses(tx, next);
    if (lacking > 0) throw new CannotStart(notEverywhere(config, next, lacking));
    await takeIntoUse(change, current, next);
    await tidyFiles(config, next.keyId);
    await change.announce('keys');
  });
  return rotated;
}

const lackingProcesses = async (db: Db, { keyId }: Signer): Promise<number> =>
  (await labelsOfProcesses(db)).filter((label) => label !== keyId).length;

const notEverywhere = (config: KeyConfig, { keyId }: Signer, lacking: number): string =>
  `The next signing key ${keyId} is published, and ${lacking} of the processes that serve this database ` +
  `${lacking === 1 ? 'does' : 'do'} not have it, so the present key still signs. ` +
  (config.signingKey
    ? 'Give each SIGNING_KEY with both keys and start it again; then run this again.'
    : `Copy ${placeOfNext(config)} into the DATA_DIR of each; then run this again.`);

const placeOfNext = (config: KeyConfig) =>
  config.signingKey ? 'SIGNING_KEY' : keyFiles(config.dataDir).next;

/** A signed statement of one key about another, so that a client that trusts the first can trust the second. */
export function endorse(by: Signer, key: Signer, now: Date) {
  const { signed, signature } = signJson(by, {
    // distinguishes this text from all others that the key signs
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
  { tx, now, audit }: Change,
  { config, current, out }: { config: KeyConfig; current: Signer; out: string | undefined },
): Promise<Signer> {
  const file = config.signingKey ? out && path.resolve(out) : keyFiles(config.dataDir).next;
  if (!file)
    throw new CannotStart('Keys come from SIGNING_KEY: say where the new one goes, with --out FILE.');
  const next = await readOrMakeSigner(file);
  await registerKey(tx, {
    purpose: 'signing',
    key: next,
    state: 'next',
    endorsed: endorse(current, next, now),
    now,
  });
  await audit('key.prepared', next, {
    what: `prepared as the next signing key, endorsed by ${current.keyId}`,
    after: { keyId: next.keyId, endorsedBy: current.keyId },
  });
  return next;
}

async function takeIntoUse({ tx, now, audit }: Change, current: Signer, next: Signer): Promise<void> {
  const setState = async (key: Signer, from: RegisteredKey['state'], set: Partial<RegisteredKey>) => {
    const { numUpdatedRows } = await tx
      .updateTable('installation_keys')
      .set(set)
      .where('purpose', '=', 'signing')
      .where('key_id', '=', key.keyId)
      .where('state', '=', from)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new CannotStart('Another rotation was faster. See which key signs now.');
  };
  await setState(current, 'current', { state: 'retired', ended_at: now });
  await setState(next, 'next', { state: 'current' });
  await audit('key.rotated', next, {
    what: `replaced the signing key ${current.keyId}`,
    before: { keyId: current.keyId },
    after: { keyId: next.keyId },
  });
}
