import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { CannotStart } from '../server/cannot-start.ts';
import { systemChange } from '../server/change.ts';
import { readConfig, type Config } from '../server/config.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { patient } from '../server/db/limits.ts';
import { knownMigrations, migrate } from '../server/db/migrate.ts';
import { findCluster } from '../server/db/embedded-location.ts';
import { requireDatabase } from '../server/db/requirements.ts';
import { withClient } from '../server/db/with-client.ts';
import { isFailure } from '../server/failure.ts';
import {
  auditKeys,
  entryWriter,
  headPlaces,
  readKept,
  verifyChain,
  type KeptHead,
} from '../server/features/audit/index.ts';
import { hasBegun } from '../server/features/audit/begin.ts';
import { openKeys } from '../server/features/keys/index.ts';
import { openStorage } from '../server/storage/open-storage.ts';
import { nameOf, ownerName, type Storage } from '../server/storage/storage.ts';
import { unfinishedRestore } from '../server/unfinished-restore.ts';
import { openArchive, type Archive } from './backup/archive.ts';
import { fileArgument, megabytes, runCommand, say, sayOnTerminal, showProgress } from './command-line.ts';
import { restoreFiles } from './backup/files.ts';
import { loadDatabase, requireEmpty } from './backup/load.ts';
import { requireStoppedServers, startDatabase } from './database.ts';

/**
 * `npm run restore -- FILE`: restores a backup into an empty DATA_DIR, and into the empty database of DATABASE_URL if that
 * is set. Nothing is written before all hashes are verified; the service does not start on an incomplete restore.
 */
async function main(): Promise<void> {
  const file = fileArgument('The name of the file is required: npm run restore -- /backups/lanyard.tar');
  const config = readConfig(process.env);
  await requireEmptyTarget(config);
  const archive = await readArchive(file);
  await mkdir(config.dataDir, { recursive: true });
  await requireNoCluster(config);
  const storage = await openEmptyStorage(config, archive);
  // a place that cannot be read is refused now: at the end, all would have to be restored again
  const heads = await readKept(headPlaces(config, storage));
  const unfinished = unfinishedRestore(config.dataDir);
  await writeFile(unfinished, `Incomplete restore of ${file}. Empty this folder and restore again.\n`);
  try {
    const isWhole = await restore(config, storage, archive, heads);
    await rm(unfinished);
    say(`Restored into ${path.resolve(config.dataDir)}. Now start the service.`);
    if (!isWhole) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(
      `The restore failed. Before you try again, empty ${path.resolve(config.dataDir)}, ` +
        'and what DATABASE_URL and STORAGE_URL name, where they are set.\n',
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
      `${path.resolve(dataDir)} is not empty (${names.slice(0, 3).join(', ')}): a restore overwrites nothing. ` +
        'Move that folder away, or set DATA_DIR to a new one.',
    );
  if (!databaseUrl || !databaseDirectUrl) return;
  await requireDatabase({ queries: databaseUrl, direct: databaseDirectUrl });
  await withClient(connectionTo(databaseDirectUrl), requireEmpty);
  const pool = createPool(databaseDirectUrl, 1);
  try {
    await requireStoppedServers(createDb(pool));
  } finally {
    await pool.end();
  }
}

/** The database of a folder that was there before may lie elsewhere, where it stays when the folder is moved away. */
async function requireNoCluster({ dataDir, databaseUrl }: Config): Promise<void> {
  const cluster = databaseUrl ? undefined : await findCluster(dataDir);
  if (cluster !== undefined)
    throw new CannotStart(
      `The database of an earlier ${path.resolve(dataDir)} is in ${cluster}: a restore overwrites nothing. ` +
        'Set DATA_DIR to a new folder, or remove that database if nobody needs it.',
    );
}

/** Called after all other checks, because storage on disk creates its folder. */
async function openEmptyStorage({ storage: place }: Config, { manifest }: Archive): Promise<Storage> {
  const storage = await openStorage(place);
  for await (const { key } of storage.list())
    throw new CannotStart(
      `The storage ${nameOf(place)} is not empty (${key}): a restore overwrites nothing.` +
        (manifest.binariesElsewhere
          ? ` The binaries of this backup were in ${manifest.binariesElsewhere}. If they still are, restore without ` +
            'STORAGE_URL and start the service with it. It removes binaries that are newer than the backup: copy them ' +
            'away first if you want them.'
          : ''),
    );
  // of an installation without a binary so far, to which the storage would be a foreign one from then on
  if ((await storage.readNote(ownerName)) !== undefined)
    throw new CannotStart(
      `The storage ${nameOf(place)} has the ${ownerName} of an installation. Use another one, or remove that file if ` +
        'no installation uses the storage.',
    );
  return storage;
}

async function readArchive(file: string): Promise<Archive> {
  let verified = 0;
  const endProgress = showProgress(() => verified);
  const archive = await openArchive(file, (bytes) => void (verified += bytes)).finally(endProgress);
  const { madeAt, version, database } = archive.manifest;
  const known = await knownMigrations();
  if (database.migrations.some((name) => !known.includes(name)))
    throw new CannotStart(`${file} was made by a newer Lanyard (${version}). Restore it with that version.`);
  say(`Backup of ${madeAt}, Lanyard ${version}: ${megabytes(verified)}, all hashes verified`);
  return archive;
}

/** False if the audit log is broken; everything is restored nevertheless. */
async function restore(
  config: Config,
  storage: Storage,
  archive: Archive,
  heads: KeptHead[],
): Promise<boolean> {
  const database = await startDatabase(config, { exclusive: true, log: () => undefined });
  try {
    await restoreDatabase(database.url, archive);
    await restoreBinaries(storage, archive);
    for (const kind of ['journal', 'keys'] as const) await restoreFiles(kind, config.dataDir, archive);
    const migrated = await migrate(database.url);
    if (migrated.length > 0) say(`Migrated to this version: ${migrated.length} migrations`);
    return await checkResult(config, storage, database.url, archive, heads);
  } finally {
    await database.stop();
  }
}

const connectionTo = (databaseUrl: string) => ({
  connectionString: databaseUrl,
  application_name: 'lanyard restore',
});

async function restoreDatabase(databaseUrl: string, archive: Archive): Promise<void> {
  const { rows, skipped } = await withClient(connectionTo(databaseUrl), async (client) => {
    await requireEmpty(client);
    return loadDatabase(client, archive, (name) => sayOnTerminal(`  ${name}`));
  }).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError)
      throw new CannotStart(`The backup cannot be loaded into the database: ${error.message}`, {
        cause: error,
      });
    throw error;
  });
  say(`Database: ${archive.manifest.database.tables.length - skipped.length} tables, ${rows} rows`);
  for (const name of skipped) say(`  ${name} was skipped: it is not a table of Lanyard.`);
}

async function restoreBinaries(storage: Storage, archive: Archive): Promise<void> {
  const { binariesElsewhere } = archive.manifest;
  if (binariesElsewhere) return say(`Binaries: not in the backup. They were in ${binariesElsewhere}.`);
  let bytes = 0;
  const names = archive.namesIn('binaries');
  for (const name of names) {
    const written = await storage.put(name.slice('binaries/'.length), archive.stream(name));
    if (isFailure(written)) throw new CannotStart(written.message);
    bytes += written;
  }
  say(`Binaries: ${names.length} files, ${megabytes(bytes)}`);
}

/** Checks keys and audit log, and records the restore in the audit log. */
async function checkResult(
  config: Config,
  storage: Storage,
  databaseUrl: string,
  { manifest }: Archive,
  heads: KeptHead[],
): Promise<boolean> {
  const pool = createPool(databaseUrl, 2, patient);
  try {
    const now = new Date();
    const { signer, retired, secrets } = await openKeys(createDb(pool), config, now);
    say(`Keys: signing key ${signer.keyId}, secrets key ${secrets.keyId}, ${retired.length} retired`);
    const keys = auditKeys(signer, retired);
    const chain = (await hasBegun(createDb(pool)))
      ? await verifyChain(createDb(pool), keys, heads)
      : undefined;
    const { madeAt, version } = manifest;
    await systemChange({ db: createDb(pool), writeEntry: entryWriter(keys) }, now, async ({ tx, audit }) => {
      // their chunks are in no backup: who sends one that is not known begins it again
      await tx.deleteFrom('uploads').where('status', '=', 'open').execute();
      const installation = await tx.selectFrom('installation').select('installation_id').executeTakeFirst();
      // a storage without a binary could not be recognized otherwise
      if (installation && !manifest.binariesElsewhere)
        await storage.writeNote(ownerName, installation.installation_id);
      await audit('backup.restored', { madeAt }, { after: { madeAt, version } });
    });
    if (!chain) say('Audit log: not sealed yet, the first start seals it');
    else if (!chain.broken) say(`Audit log: whole, ${chain.checkedEntries} entries checked`);
    else
      say(
        `Audit log: broken: ${chain.broken.problem}\n  If only entries after the backup are missing, accept that: ` +
          'npm run audit:verify -- --accept "Restored a backup"',
      );
    return chain?.whole ?? true;
  } finally {
    await pool.end();
  }
}

runCommand(main);
