import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { CannotStart } from '../server/cannot-start.ts';
import { systemChange } from '../server/change.ts';
import { readConfig, type Config } from '../server/config.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { patient } from '../server/db/limits.ts';
import { startEmbedded } from '../server/db/embedded.ts';
import { knownMigrations, migrate } from '../server/db/migrate.ts';
import { requireDatabase } from '../server/db/requirements.ts';
import { isFailure } from '../server/failure.ts';
import { auditKeys, entryWriter, headPlaces, readKept, verifyChain } from '../server/features/audit/audit.ts';
import { hasBegun } from '../server/features/audit/begin.ts';
import { openKeys } from '../server/features/keys/keys.ts';
import { openStorage } from '../server/storage/open-storage.ts';
import { nameOf, type Storage } from '../server/storage/storage.ts';
import { unfinishedRestore } from '../server/unfinished-restore.ts';
import { openArchive, type Archive } from './backup/archive.ts';
import { fileArgument, megabytes, runCommand, say, sayOnTerminal, tellProgress } from './backup/command.ts';
import { restoreFiles } from './backup/files.ts';
import { loadDatabase, requireEmpty } from './backup/load.ts';

/**
 * `npm run restore -- FILE`: puts a backup into an empty DATA_DIR, and into the empty database of DATABASE_URL where that
 * is set. Nothing is written before every byte of the file was compared; a service does not start on half a restore.
 */
async function main(): Promise<void> {
  const file = fileArgument('Say which backup: npm run restore -- /backups/lanyard.tar');
  const config = readConfig(process.env);
  await requireEmptyTarget(config);
  const archive = await readArchive(file);
  await mkdir(config.dataDir, { recursive: true });
  const storage = await openEmptyStorage(config);
  const unfinished = unfinishedRestore(config.dataDir);
  await writeFile(unfinished, `Half a restore of ${file}. Empty this folder, and run it again.\n`);
  try {
    const isWhole = await restore(config, storage, archive);
    await rm(unfinished);
    say(`Restored into ${path.resolve(config.dataDir)}. Start the service: npm start`);
    if (!isWhole) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(
      `The restore did not end. Empty ${path.resolve(config.dataDir)} before the next; nothing starts on it.\n`,
    );
    throw error;
  } finally {
    storage.close();
  }
}

async function requireEmptyTarget({ dataDir, databaseUrl, databaseDirectUrl }: Config): Promise<void> {
  const found = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CannotStart(`DATA_DIR cannot be read: ${error.message}`);
  });
  const names = found.filter((name) => name !== 'lost+found');
  if (names.length > 0)
    throw new CannotStart(
      `${path.resolve(dataDir)} is not empty (${names.slice(0, 3).join(', ')}): a restore writes nothing over. ` +
        'Move that folder away, or set DATA_DIR to a new one.',
    );
  if (!databaseUrl) return;
  await requireDatabase({ queries: databaseUrl, direct: databaseDirectUrl! });
  await withClient(databaseDirectUrl!, requireEmpty);
}

/** Opened after all that could refuse: on disk it makes its folder. */
async function openEmptyStorage({ storage: place }: Config): Promise<Storage> {
  const storage = await openStorage(place);
  for await (const { key } of storage.list())
    throw new CannotStart(
      `The storage ${nameOf(place)} is not empty (${key}): a restore writes nothing over.`,
    );
  return storage;
}

async function readArchive(file: string): Promise<Archive> {
  let compared = 0;
  const endProgress = tellProgress(() => compared);
  const archive = await openArchive(file, (bytes) => void (compared += bytes)).finally(endProgress);
  const { madeAt, version, database } = archive.manifest;
  const known = await knownMigrations();
  if (database.migrations.some((name) => !known.includes(name)))
    throw new CannotStart(`${file} was made by a newer Lanyard (${version}). Restore it with that.`);
  say(`Backup of ${madeAt}, Lanyard ${version}: ${megabytes(compared)}, every hash fits`);
  return archive;
}

/** False where the audit log is broken: everything is there all the same. */
async function restore(config: Config, storage: Storage, archive: Archive): Promise<boolean> {
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded(config.dataDir, { exclusive: true, log: () => undefined });
  const direct = config.databaseDirectUrl ?? embedded!.url;
  try {
    await restoreDatabase(direct, archive);
    await restoreBinaries(storage, archive);
    for (const kind of ['journal', 'keys'] as const) await restoreFiles(kind, config.dataDir, archive);
    const migrated = await migrate(direct);
    if (migrated.length > 0) say(`Brought up to this version: ${migrated.length} migrations`);
    return await verify(config, storage, direct, archive);
  } finally {
    await embedded?.stop();
  }
}

async function restoreDatabase(databaseUrl: string, archive: Archive): Promise<void> {
  const { rows, skipped } = await withClient(databaseUrl, async (client) => {
    await requireEmpty(client);
    return loadDatabase(client, archive, (name) => sayOnTerminal(`  ${name}`));
  }).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError)
      throw new CannotStart(`The database does not take the backup: ${error.message}`, { cause: error });
    throw error;
  });
  say(`Database: ${archive.manifest.database.tables.length - skipped.length} tables, ${rows} rows`);
  for (const name of skipped) say(`  ${name} is left out: it is no table of Lanyard.`);
}

async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'lanyard restore' });
  // without a listener, a lost connection would end the process
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function restoreBinaries(storage: Storage, archive: Archive): Promise<void> {
  const { binariesElsewhere } = archive.manifest;
  if (binariesElsewhere) return say(`Binaries: not in the backup. They lay in ${binariesElsewhere}.`);
  let bytes = 0;
  const names = archive.namesIn('binaries');
  for (const name of names) {
    const written = await storage.put(name.slice('binaries/'.length), archive.stream(name));
    if (isFailure(written)) throw new CannotStart(written.message);
    bytes += written;
  }
  say(`Binaries: ${names.length} files, ${megabytes(bytes)}`);
}

/** Compares keys and audit log, and writes an entry that tells of the restore. */
async function verify(
  config: Config,
  storage: Storage,
  databaseUrl: string,
  { manifest }: Archive,
): Promise<boolean> {
  const pool = createPool(databaseUrl, 2, patient);
  try {
    const now = new Date();
    const { signer, retired, secrets } = await openKeys(createDb(pool), config, now);
    say(`Keys: signing key ${signer.keyId}, secrets key ${secrets.keyId}, ${retired.length} retired`);
    const keys = auditKeys(signer, retired);
    const kept = await readKept(headPlaces(config, storage));
    const chain = (await hasBegun(createDb(pool)))
      ? await verifyChain(createDb(pool), keys, kept)
      : undefined;
    const { madeAt, version } = manifest;
    await systemChange({ db: createDb(pool), writeEntry: entryWriter(keys) }, now, ({ audit }) =>
      audit('backup.restored', { madeAt }, { after: { madeAt, version } }),
    );
    if (!chain) say('Audit log: its first seal is made by the first start');
    else if (chain.whole) say(`Audit log: whole, ${chain.checkedEntries} entries checked`);
    else
      say(
        `Audit log: broken: ${chain.broken!.problem}\n  Where only what came after the backup is missing, accept it: ` +
          'npm run audit:verify -- --accept "Restored a backup"',
      );
    return chain?.whole ?? true;
  } finally {
    await pool.end();
  }
}

runCommand(main);
