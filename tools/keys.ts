import { parseArgs } from 'node:util';
import { readConfig, type Config } from '../server/config.ts';
import { createDb, createPool, type Db } from '../server/db/client.ts';
import { startEmbedded } from '../server/db/embedded.ts';
import { migrate } from '../server/db/migrate.ts';
import { labelsOfProcesses } from '../server/db/signals.ts';
import { auditKeys, entryWriter, headPlaces, type SignedHead } from '../server/features/audit/audit.ts';
import { acceptNewKeys, openKeys, rotateKey, rotateSecrets } from '../server/features/keys/keys.ts';
import { openStorage } from '../server/storage/open-storage.ts';

/**
 * `npm run keys:rotate` makes the next signing key, endorsed by the present one, which stays for verification, and has
 * running processes sign with it; with `-- --prepare` it is only made and published. With all processes
 * stopped, `npm run keys:rotate-secrets` replaces the secrets key, and `npm run keys:accept-new -- --reason "…"`
 * accepts that keys are lost.
 */
async function main(): Promise<void> {
  const { positionals, values: options } = parseArgs({
    allowPositionals: true,
    options: {
      prepare: { type: 'boolean', default: false },
      out: { type: 'string' },
      reason: { type: 'string' },
    },
  });
  const config = readConfig(process.env);
  const isBeside = positionals[0] === 'rotate';
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded(config.dataDir, { exclusive: !isBeside, log: () => undefined });
  const databaseUrl = config.databaseDirectUrl ?? embedded!.url;
  const pool = createPool(databaseUrl, 2);
  const db = createDb(pool);
  try {
    if (!isBeside) await refuseBesideServers(db);
    await migrate(databaseUrl);
    if (isBeside) await rotate(db, config, options);
    else if (positionals[0] === 'rotate-secrets') await replaceSecrets(db, config, options);
    else await acceptNew(db, config, options.reason?.trim());
  } finally {
    await pool.end();
    await embedded?.stop();
  }
}

/** A process that serves would go on with the keys that it read at its start. */
async function refuseBesideServers(db: Db): Promise<void> {
  const processes = (await labelsOfProcesses(db)).length;
  if (processes > 0)
    throw new Error(
      `${processes} ${processes === 1 ? 'process serves' : 'processes serve'} this database. Stop them first.`,
    );
}

async function rotate(
  db: Db,
  config: Config,
  { prepare, out }: { prepare: boolean; out?: string },
): Promise<void> {
  const now = new Date();
  const { signer } = await openKeys(db, config, now);
  const writeEntry = entryWriter(auditKeys(signer));
  const rotated = await rotateKey({ db, writeEntry }, config, { prepare, out, now });
  const { keyId, before, isInUse } = rotated;
  say(
    isInUse
      ? `The signing key ${keyId} signs from now on, also in processes that run; ${before} stays for verification.`
      : `The signing key ${keyId} is published as the next one; npm run keys:rotate lets it sign.`,
  );
  if (config.signingKey) say(`Give SIGNING_KEY all it holds now, and the key ${keyId} as well.`);
}

async function replaceSecrets(db: Db, config: Config, { out }: { out?: string }): Promise<void> {
  const now = new Date();
  const { signer } = await openKeys(db, config, now);
  const writeEntry = entryWriter(auditKeys(signer));
  const { keyId, before, factors } = await rotateSecrets({ db, writeEntry }, config, {
    out,
    now,
  });
  say(`The secrets key ${keyId} replaces ${before}. Second factors encrypted again: ${factors}.`);
  if (config.secretsKey) say('Give SECRETS_KEY the new key before the next start.');
  else say('Processes with data directories of their own need the file secrets-key before they start.');
}

async function acceptNew(db: Db, config: Config, reason: string | undefined): Promise<void> {
  if (!reason)
    throw new Error('Say why: --reason "The disk of the server burned, and no backup has the keys"');
  const now = new Date();
  const { lost, named, head } = await acceptNewKeys(db, config, { reason, now });
  if (head) await keepHead(config, head, now);
  say(
    `Accepted as lost: ${lost.join(', ') || 'keys that were never named'}. New: ${named.join(', ') || 'none'}.`,
  );
  if (head) say('Desktops need a release with the new public key, and the audit log begins anew.');
}

async function keepHead(config: Config, head: SignedHead, now: Date): Promise<void> {
  const storage = await openStorage(config.storage);
  for (const place of headPlaces(config, storage)) await place.write(head, now);
  storage.close();
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
