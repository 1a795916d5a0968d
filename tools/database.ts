import path from 'node:path';
import type pg from 'pg';
import { counted } from '../contract/text.ts';
import { CannotStart } from '../server/cannot-start.ts';
import type { Config } from '../server/config.ts';
import { createPool, type Db } from '../server/db/client.ts';
import { findCluster } from '../server/db/embedded-location.ts';
import { startEmbedded, type EmbeddedOptions } from '../server/db/embedded.ts';
import { everyday, timesLonger, type Limits } from '../server/db/limits.ts';
import { labelsOfProcesses } from '../server/db/signals.ts';
import { untilSignal } from './command-line.ts';

/**
 * The database of the settings, past any pooler; without a setting the embedded one, which `stop` stops again, as does a
 * signal that ends the command.
 */
export async function startDatabase(
  config: Config,
  options: Omit<EmbeddedOptions, 'signal'>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { signal, onEnd } = untilSignal();
  if (config.databaseDirectUrl) return { url: config.databaseDirectUrl, stop: async () => undefined };
  // of the start alone: what has started may serve others by the time of the signal, which `stop` sees
  const starting = new AbortController();
  const abort = () => starting.abort();
  signal.addEventListener('abort', abort);
  const embedded = await startEmbedded(config.dataDir, { ...options, signal: starting.signal });
  onEnd(embedded.stop);
  signal.removeEventListener('abort', abort);
  return embedded;
}

/**
 * Throws CannotStart where the settings lead to no database. Called by each tool that needs an installation: without the
 * settings of the server, it would create an empty one in `./data` and report success there.
 */
export async function requireDatabase({ databaseUrl, dataDir }: Config): Promise<void> {
  if (!databaseUrl && !(await findCluster(dataDir)))
    throw new CannotStart(
      `There is no database in ${path.resolve(dataDir)}: set DATA_DIR as for the server.`,
    );
}

/**
 * Runs a command on the database of an installation, and ends its connections and the embedded one however that ends.
 * Throws CannotStart where the settings lead to no installation: the command would begin one, and report success there.
 */
export async function onInstallation(
  config: Config,
  { exclusive, limits = everyday }: Pick<EmbeddedOptions, 'exclusive'> & { limits?: Limits },
  work: (pool: pg.Pool, url: string) => Promise<void>,
): Promise<void> {
  await requireDatabase(config);
  const database = await startDatabase(config, { exclusive, log: () => undefined });
  const pool = createPool(database.url, 2, timesLonger(limits, config.databaseLimitFactor));
  try {
    const { rowCount } = await pool.query(`select where to_regclass('schema_migrations') is not null`);
    if (rowCount === 0)
      throw new CannotStart(
        'Lanyard was never started on this database: set DATABASE_URL and DATA_DIR as for the server.',
      );
    await work(pool, database.url);
  } finally {
    await pool.end();
    await database.stop();
  }
}

/** Throws CannotStart if servers are running: they would go on with the keys and records that they have read. */
export async function requireStoppedServers(db: Db): Promise<void> {
  const processes = (await labelsOfProcesses(db)).length;
  if (processes > 0)
    throw new CannotStart(
      `${counted(processes, 'process uses', 'processes use')} this database. Stop all processes first.`,
    );
}
