import { rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { CannotStart } from '../server/cannot-start.ts';
import { readConfig, type Config } from '../server/config.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { hasCluster } from '../server/db/embedded-place.ts';
import { startEmbedded } from '../server/db/embedded.ts';
import { openKeys } from '../server/features/keys/keys.ts';
import { openStorage } from '../server/storage/open-storage.ts';
import { nameOf, type Storage } from '../server/storage/storage.ts';
import { refuseHalfRestored } from '../server/unfinished-restore.ts';
import { readVersion } from '../server/version.ts';
import { createArchive, type ArchiveWriter } from './backup/archive.ts';
import { fileArgument, megabytes, runCommand, say, sayOnTerminal, tellProgress } from './backup/command.ts';
import { dumpDatabase, openSnapshot, type Snapshot } from './backup/dump.ts';
import { addFiles } from './backup/files.ts';

/**
 * `npm run backup -- FILE`: database, binaries and keys as one file, while the service runs. It takes the settings of the
 * server, and works for a database of one's own too. Ends with 1 where there is no whole backup.
 */
async function main(): Promise<void> {
  const file = fileArgument('Say where the backup goes: npm run backup -- /backups/lanyard.tar');
  const config = readConfig(process.env);
  refuseHalfRestored(config.dataDir);
  if (!config.databaseUrl && !(await hasCluster(config.dataDir)))
    throw new CannotStart(
      `There is no database in ${path.resolve(config.dataDir)}: set DATA_DIR as for the server.`,
    );
  const archive = await createArchive(file, new Date());
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      rmSync(`${file}.part`, { force: true });
      process.exit(1);
    });
  const endProgress = tellProgress(() => archive.bytes());
  try {
    await backUp(config, archive);
    say(`${file}: ${megabytes(archive.bytes())}. It holds the keys: keep it where nobody else can read it.`);
  } catch (error) {
    await archive.abandon();
    throw error;
  } finally {
    endProgress();
  }
}

async function backUp(config: Config, archive: ArchiveWriter): Promise<void> {
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded(config.dataDir, { exclusive: false, log: () => undefined });
  const databaseUrl = config.databaseDirectUrl ?? embedded!.url;
  // the service comes first
  setPriority(10);
  try {
    // before the snapshot: what is written into the database in between is in both, and counts once
    const waiting = await addFiles('journal', config.dataDir, archive);
    let keys: string[] = [];
    const snapshot = await openSnapshot(databaseUrl, async () => {
      keys = await addFiles('keys', config.dataDir, archive);
    });
    try {
      const madeAt = new Date().toISOString();
      await requireKeys(snapshot, databaseUrl, config);
      const database = await dumpDatabase(snapshot, archive, (name) => sayOnTerminal(`  ${name}`));
      const rows = database.tables.reduce((sum, table) => sum + table.rows, 0);
      say(`Database: ${database.tables.length} tables, ${rows} rows, ${waiting.length} files of the journal`);
      const binariesElsewhere = await addBinaries(snapshot, config, archive);
      say(`Keys: ${keys.join(', ') || 'none in DATA_DIR'}`);
      for (const [name, given] of [
        ['SIGNING_KEY', config.signingKey],
        ['SECRETS_KEY', config.secretsKey],
      ] as const)
        if (given) say(`  The key of ${name} is not in it: a restore needs the same setting.`);
      await archive.finish({
        madeAt,
        version: await readVersion(),
        database,
        ...(binariesElsewhere ? { binariesElsewhere } : {}),
      });
    } finally {
      await snapshot.end();
    }
  } finally {
    await embedded?.stop();
  }
}

/** A backup without the keys that its database names could not be started. */
async function requireKeys({ client }: Snapshot, databaseUrl: string, config: Config): Promise<void> {
  const { rows } = await client.query<{ table: string | null }>(
    `select to_regclass('public.installation_keys') as table`,
  );
  if (rows[0]!.table === null) return;
  const named = await client.query('select from installation_keys limit 1');
  if (named.rowCount === 0) return;
  const pool = createPool(databaseUrl, 1);
  try {
    await openKeys(createDb(pool), config, new Date());
  } finally {
    await pool.end();
  }
}

/** Adds the files that the releases of the snapshot name. Answers where they are, when that is not here. */
async function addBinaries(
  { client }: Snapshot,
  config: Config,
  archive: ArchiveWriter,
): Promise<string | undefined> {
  if (config.storage.kind === 's3') {
    const place = nameOf(config.storage);
    say(`Binaries: not in it. They lie in ${place}, whose versioning keeps them.`);
    return place;
  }
  const { rows } = await client.query<{ key: string; version: string; deletes: boolean }>(`
    select key, version from releases, unnest(array[storage_key, blockmap_key]) as key
     where key is not null order by key`);
  const storage = await openStorage(config.storage);
  let [files, bytes] = [0, 0];
  for (const { key, version } of rows) {
    const size = await addBinary(storage, archive, key);
    if (size === undefined) say(`  ${key} of release ${version} is not there: it was deleted, or is lost.`);
    else [files, bytes] = [files + 1, bytes + size];
  }
  storage.close();
  say(`Binaries: ${files} files, ${megabytes(bytes)}`);
  return undefined;
}

/** Its size; undefined where there is none. */
async function addBinary(storage: Storage, archive: ArchiveWriter, key: string): Promise<number | undefined> {
  const size = await storage.sizeOf(key);
  const stream = size === undefined ? undefined : await storage.read(key);
  if (size === undefined || !stream) return undefined;
  await archive.addStream(`binaries/${key}`, size, stream as AsyncIterable<Buffer>);
  return size;
}

runCommand(main);
