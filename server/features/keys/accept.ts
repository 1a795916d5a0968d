import { join } from 'node:path';
import { CannotStart } from '../../cannot-start.ts';
import { systemChange, type Change, type WriteEntry } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { readOrMake } from '../../key-file.ts';
import { newSecretsKey, readSecrets } from '../../secrets.ts';
import { auditKeys, restartChain, entryWriter, type AuditKeys, type SignedHead } from '../audit/index.ts';
import { loseKey, registerKey, othersOf, readKeys, signingIn, withId, type RegisteredKey } from './claim.ts';
import { keyFiles, type LocalKeys, type KeyConfig } from './local-keys.ts';
import { endorse } from './replace.ts';
import { readOrMakeSigner, type Signer } from '../../signer.ts';
import { present } from '../../invariants.ts';

/** `head` is the new head of the audit log, to be archived; undefined where the log continues unchanged. */
export type Accepted = { lost: string[]; named: string[]; head: SignedHead | undefined };

/**
 * Accepts the permanent loss of keys that the database names, with the operator's reason: the keys found in their
 * place, or new ones, belong to the database from now on. If a signing key was lost, the audit log restarts with an
 * entry that records it. Throws CannotStart when no key is missing.
 */
export function acceptNewKeys(
  db: Db,
  config: KeyConfig,
  { reason, now }: { reason: string; now: Date },
): Promise<Accepted> {
  let keys: AuditKeys;
  // the available keys are known only later in the transaction
  const parts = { db, writeEntry: (...entry: Parameters<WriteEntry>) => entryWriter(keys)(...entry) };
  return systemChange(parts, now, async (change) => {
    const { tx } = change;
    const { local, rows } = await readKeys(tx, config);
    const held = ({ purpose, key_id }: RegisteredKey) =>
      local[purpose].all.some(({ keyId }) => keyId === key_id);
    const lost = rows.filter((row) => row.state !== 'lost' && !held(row));
    for (const key of lost) await loseKey(tx, key, now);
    const isWithout = (purpose: RegisteredKey['purpose']) =>
      !rows.some((row) => row.purpose === purpose && row.state === 'current' && held(row));
    const named = [
      ...(isWithout('signing') ? [await registerSigner(tx, config, local, rows, now)] : []),
      ...(isWithout('secrets') ? [await registerSecrets(tx, config, local, rows, now)] : []),
    ];
    if (lost.length === 0 && named.length === 0)
      throw new CannotStart('Every key that this database names is here. There is nothing to accept.');
    const ids = lost.map(({ key_id }) => key_id);
    const { signer, others } = await presentSigner(tx, config);
    keys = auditKeys(signer, others);
    const record = () => recordAcceptance(change, { lost: ids, named, reason });
    const hasSealed = ({ purpose, state }: RegisteredKey) => purpose === 'signing' && state !== 'next';
    const isChainLost = named.includes(signer.keyId) || lost.some(hasSealed);
    const head = isChainLost ? await restartChain(tx, keys, now, record) : void (await record());
    return { lost: ids, named, head };
  });
}

/** The signer that the next start will load. */
async function presentSigner(tx: Tx, config: KeyConfig): Promise<{ signer: Signer; others: Signer[] }> {
  const { local, rows } = await readKeys(tx, config);
  const current = withId(local.signing.all, signingIn(rows, 'current')?.key_id);
  const signer = present(current, 'the start has found the key that is in use');
  return { signer, others: othersOf(local, signer) };
}

async function registerSigner(
  tx: Tx,
  config: KeyConfig,
  { signing }: LocalKeys,
  rows: RegisteredKey[],
  now: Date,
): Promise<string> {
  const isKnown = ({ keyId }: Signer) => rows.some((row) => row.key_id === keyId);
  const found = signing.main.find((key) => !isKnown(key));
  if (!found && config.signingKey)
    throw new CannotStart('Set SIGNING_KEY to a new key: openssl genpkey -algorithm ed25519');
  const { signing: file, retired } = keyFiles(config.dataDir);
  const [earlier] = signing.main;
  if (!found && earlier)
    throw new CannotStart(
      `${file} holds the earlier key ${earlier.keyId}, as in an older copy of the folder. Move it to ` +
        `${join(retired, `${earlier.keyId}.pem`)}: then a new key is made, which it endorses.`,
    );
  const key = found ?? (await readOrMakeSigner(file));
  // clients that trust a remaining key can verify the new one
  const endorser = signing.all.find((one) => isKnown(one));
  const endorsed = endorser && { endorsed: endorse(endorser, key, now) };
  await registerKey(tx, { purpose: 'signing', key, state: 'current', ...endorsed, now });
  return key.keyId;
}

async function registerSecrets(
  tx: Tx,
  config: KeyConfig,
  { secrets }: LocalKeys,
  rows: RegisteredKey[],
  now: Date,
): Promise<string> {
  const file = keyFiles(config.dataDir).secrets;
  if (rows.some((row) => row.key_id === secrets.key?.keyId))
    throw new CannotStart(
      config.secretsKey
        ? 'Set SECRETS_KEY to a new key: openssl rand -base64 32'
        : `${file} holds an earlier key of this database. Move it away: then a new key is made.`,
    );
  const key = secrets.key ?? readSecrets(await readOrMake(file, newSecretsKey), file);
  await registerKey(tx, { purpose: 'secrets', key, state: 'current', now });
  return key.keyId;
}

function recordAcceptance(
  { audit }: Change,
  { lost, named, reason }: { lost: string[]; named: string[]; reason: string },
) {
  const [keyId] = named;
  return audit('key.accepted_new', keyId === undefined ? null : { keyId }, {
    what: `accepted that keys are lost (${lost.join(', ') || 'not named'}); new: ${named.join(', ') || 'none'}: ${reason}`,
    before: { lost },
    after: { named, reason },
  });
}
