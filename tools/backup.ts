import { rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { counted } from '../contract/text.ts';
import { CannotStart } from '../server/cannot-start.ts';
import { readConfig, type Config } from '../server/config.ts';
import { createDb, createPool, type WritableDb } from '../server/db/client.ts';
import { labelsOfProcesses } from '../server/db/signals.ts';
import { openKeys } from '../server/features/keys/index.ts';
import { openStorage } from '../server/storage/open-storage.ts';
import { nameOf, ownerName, StorageDown, type Storage } from '../server/storage/storage.ts';
import { endSignals } from '../server/stop.ts';
import { refuseHalfRestored } from '../server/unfinished-restore.ts';
import { readVersion } from '../server/version.ts';
import { createArchive, SourceFailed, type ArchiveWriter } from './backup/archive.ts';
import { fileArgument, megabytes, runCommand, say, sayOnTerminal, showProgress } from './command-line.ts';
import { dumpDatabase, hasTable, openSnapshot, type Snapshot } from './backup/dump.ts';
import { addFiles } from './backup/files.ts';
import { requireDatabase, startDatabase } from './database.ts';

/**
 * `npm run backup -- FILE`: writes database, binaries and keys into one file, while the service runs. It uses the
 * settings of the server, also for an external database. Exits with 1 if the backup is incomplete.
 */
async function main(): Promise<void> {
  const file = fileArgument('The name of the file is required: npm run backup -- /backups/lanyard.tar');
  const config = readConfig(process.env);
  refuseHalfRestored(config.dataDir);
  await requireDatabase(config);
  const archive = await createArchive(file, new Date());
  for (const signal of endSignals) process.once(signal, () => rmSync(`${file}.part`, { force: true }));
  const endProgress = showProgress(() => archive.bytes());
  try {
    const unreadable = await createBackup(config, archive);
    say(`${file}: ${megabytes(archive.bytes())}. It contains the keys: keep it private.`);
    if (unreadable > 0) {
      say(`The backup is complete but for ${counted(unreadable, 'file')} that cannot be read.`);
      process.exitCode = 1;
    }
  } catch (error) {
    await archive.abandon();
    throw error;
  } finally {
    endProgress();
  }
}

/** Returns how many binaries cannot be read. */
async function createBackup(config: Config, archive: ArchiveWriter): Promise<number> {
  const database = await startDatabase(config, { exclusive: false, log: () => undefined });
  // a lower priority than the service
  setPriority(10);
  try {
    // before the snapshot: a record that reaches the database in between is in both, and is imported once
    const journal = await addFiles('journal', config.dataDir, archive);
    let keys: string[] = [];
    const snapshot = await openSnapshot(database.url, async () => {
      keys = await addFiles('keys', config.dataDir, archive);
    });
    try {
      const madeAt = snapshot.madeAt.toISOString();
      await onDatabase(database.url, async (db) => {
        await requireKeys(snapshot, db, config);
        const processes = (await labelsOfProcesses(db)).length;
        if (processes > 0)
          say(
            `${counted(processes, 'process uses', 'processes use')} this database. What is changed after ${madeAt} is not in the backup.`,
          );
      });
      const content = await dumpDatabase(snapshot, archive, (name) => sayOnTerminal(`  ${name}`));
      const rows = content.tables.reduce((sum, table) => sum + table.rows, 0);
      say(`Database: ${content.tables.length} tables, ${rows} rows, ${journal.length} journal files`);
      const binaries = await listBinaries(snapshot);
      // copying them may take hours
      await snapshot.release();
      const { elsewhere: binariesElsewhere, unreadable } = await addBinaries(binaries, config, archive);
      say(`Keys: ${keys.join(', ') || 'none in DATA_DIR'}`);
      for (const [name, value] of [
        ['SIGNING_KEY', config.signingKey],
        ['SECRETS_KEY', config.secretsKey],
      ] as const)
        if (value) say(`  The key in ${name} is not included: a restore needs the same setting.`);
      await archive.finish({
        madeAt,
        version: (await readVersion()).version,
        database: content,
        ...(binariesElsewhere ? { binariesElsewhere } : {}),
      });
      return unreadable;
    } finally {
      await snapshot.end();
    }
  } finally {
    await database.stop();
  }
}

/** Throws if a key is missing that the database names: the service could not start on such a backup. */
async function requireKeys({ client }: Snapshot, db: WritableDb, config: Config): Promise<void> {
  if (!(await hasTable(client, 'installation_keys'))) return;
  const named = await client.query('select from installation_keys limit 1');
  if (named.rowCount === 0) return;
  await openKeys(db, config, new Date());
}

async function onDatabase(url: string, work: (db: WritableDb) => Promise<void>): Promise<void> {
  const pool = createPool(url, 1);
  try {
    await work(createDb(pool));
  } finally {
    await pool.end();
  }
}

type Binaries = {
  /** Each with the version of its release. */
  files: { key: string; version: string }[];
  /** The id of the installation, which its storage has too. */
  owner: string | undefined;
};

async function listBinaries({ client }: Snapshot): Promise<Binaries> {
  const files = await client.query<Binaries['files'][number]>(`
    select key, version from releases, unnest(array[storage_key, blockmap_key]) as key
     where key is not null order by key`);
  const found = (await hasTable(client, 'installation'))
    ? await client.query<{ id: string }>('select installation_id as id from installation')
    : undefined;
  return { files: files.rows, owner: found?.rows[0]?.id };
}

/**
 * Adds the files of the releases, or returns where they are stored elsewhere; and how many cannot be read.
 * Those are named and left out: the database and the other files are worth more than a failure.
 */
async function addBinaries(
  binaries: Binaries,
  config: Config,
  archive: ArchiveWriter,
): Promise<{ elsewhere?: string; unreadable: number }> {
  if (config.storage.kind === 's3') {
    const place = nameOf(config.storage);
    say(`Binaries: not included. They are in ${place}, whose versioning keeps them.`);
    return { elsewhere: place, unreadable: 0 };
  }
  const storage = await openStorage(config.storage);
  let [files, bytes, unreadable] = [0, 0, 0];
  try {
    for (const { key, version } of binaries.files) {
      try {
        const size = await addBinary(storage, archive, key);
        if (size === undefined) say(`  ${key} of release ${version} is missing: it was deleted, or is lost.`);
        else [files, bytes] = [files + 1, bytes + size];
      } catch (error) {
        if (!(error instanceof SourceFailed || error instanceof StorageDown)) throw error;
        say(`  ${key} of release ${version} cannot be read: ${error.message}`);
        unreadable++;
      }
    }
    const { owner } = binaries;
    const areAllMissing = binaries.files.length > 0 && files === 0 && unreadable === 0;
    if (areAllMissing && owner && owner !== (await storage.readNote(ownerName)))
      throw new CannotStart(
        `${nameOf(config.storage)} is not the storage of this installation, and has none of its ${binaries.files.length} binaries. ` +
          'Mount the disk, or set STORAGE_URL as for the server. If the binaries are lost, ' +
          `write ${owner} into ${ownerName} there, and back up without them.`,
      );
  } finally {
    storage.close();
  }
  say(`Binaries: ${files} files, ${megabytes(bytes)}`);
  return { unreadable };
}

/** Returns the size; undefined if the file does not exist. */
async function addBinary(storage: Storage, archive: ArchiveWriter, key: string): Promise<number | undefined> {
  const size = await storage.sizeOf(key);
  const stream = size === undefined ? undefined : await storage.read(key);
  if (size === undefined || !stream) return undefined;
  await archive.addStream(`binaries/${key}`, size, stream as AsyncIterable<Buffer>);
  return size;
}

runCommand(main);
