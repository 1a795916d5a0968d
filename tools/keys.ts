import { parseArgs } from 'node:util';
import { CannotStart } from '../server/cannot-start.ts';
import { readConfig, type Config } from '../server/config.ts';
import { createDb, type Db } from '../server/db/client.ts';
import { migrate } from '../server/db/migrate.ts';
import { auditKeys, entryWriter, headPlaces, keepHead } from '../server/features/audit/index.ts';
import {
  acceptNewKeys,
  openKeys,
  requireKeys,
  rotateKey,
  rotateSecrets,
} from '../server/features/keys/index.ts';
import { openStorage } from '../server/storage/open-storage.ts';
import { runCommand, say, sayNotKept } from './command-line.ts';
import { onInstallation, requireStoppedServers } from './database.ts';
import { fromCaller } from './from-caller.ts';

const commands = ['rotate', 'rotate-secrets', 'accept-new'] as const;

/**
 * `npm run keys:rotate` replaces the signing key, also in running processes: the current key endorses the new one and
 * stays for verification. With `-- --prepare` the new key is only created and published. With all processes stopped,
 * `npm run keys:rotate-secrets` replaces the secrets key, and `npm run keys:accept-new -- --reason "…"` accepts that keys
 * are lost.
 */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      prepare: { type: 'boolean', default: false },
      out: { type: 'string' },
      reason: { type: 'string' },
    },
  });
  const options = { ...values, out: values.out && fromCaller(values.out) };
  const reason = values.reason?.trim();
  const command = commands.find((name) => name === positionals[0]);
  // before anything is migrated: the service may still run the version before
  if (!command) throw new CannotStart(`The command is one of: ${commands.join(', ')}`);
  if (command === 'accept-new' && !reason)
    throw new CannotStart('A reason is required: --reason "The disk failed, and no backup has the keys"');
  const config = readConfig(process.env);
  const isOnline = command === 'rotate';
  await onInstallation(config, { exclusive: !isOnline }, async (pool, url) => {
    const db = createDb(pool);
    if (!isOnline) await requireStoppedServers(db);
    if (command !== 'accept-new') await requireKeys(url, config, new Date());
    await migrate(url);
    if (isOnline) await rotate(db, config, options);
    else if (command === 'rotate-secrets') await replaceSecrets(db, config, options);
    else await acceptNew(db, config, reason ?? '');
  });
}

async function rotate(
  db: Db,
  config: Config,
  { prepare, out }: { prepare: boolean; out: string | undefined },
): Promise<void> {
  const now = new Date();
  const { signer } = await openKeys(db, config, now);
  const writeEntry = entryWriter(auditKeys(signer));
  const { keyId, before } = await rotateKey({ db, writeEntry, config }, config, { prepare, out, now });
  say(
    prepare
      ? `The signing key ${keyId} is published as the next one; npm run keys:rotate starts signing with it.`
      : `The signing key ${keyId} signs from now on, also in running processes; ${before} stays for verification.`,
  );
  if (config.signingKey && prepare)
    say(`Add the key ${keyId} to SIGNING_KEY, and keep the keys that are in it now.`);
}

async function replaceSecrets(db: Db, config: Config, { out }: { out: string | undefined }): Promise<void> {
  const now = new Date();
  const { signer } = await openKeys(db, config, now);
  const writeEntry = entryWriter(auditKeys(signer));
  const { keyId, before, factors } = await rotateSecrets({ db, writeEntry }, config, { out, now });
  say(`The secrets key ${keyId} replaces ${before}. Second factors re-encrypted: ${factors}.`);
  if (config.secretsKey) say('Set SECRETS_KEY to the new key before the next start.');
  else say('Copy the file secrets-key to the data directory of every other process before it starts.');
}

async function acceptNew(db: Db, config: Config, reason: string): Promise<void> {
  const now = new Date();
  const { lost, named, head } = await acceptNewKeys(db, config, { reason, now });
  say(
    `Accepted as lost: ${lost.join(', ') || 'keys that were never recorded'}. New: ${named.join(', ') || 'none'}.`,
  );
  if (!head) return;
  say('Desktops need a release with the new public key, and a new audit chain begins.');
  const storage = await openStorage(config.storage);
  sayNotKept(await keepHead(headPlaces(config, storage), head, now));
  storage.close();
}

runCommand(main);
