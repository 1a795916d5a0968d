import type { Logger } from 'pino';
import { createDb, createPool, everyday, patient, quick, type Db, type Pool } from './client.ts';
import { startSignals, type Signals } from './signals.ts';

/** The connections of a process, apart by what waits for what, so that nothing slow holds those that must be quick. */
export type Connections = {
  /** For everyday calls. */
  db: Db;
  pool: Pool;
  /** For validations and for telling whether the service is ready; its statements take a moment each. */
  reserved: { db: Db; pool: Pool };
  /** For what may take long: reports, files, the audit log as a whole. */
  reports: Db;
  signals: Signals;
  end: () => Promise<void>;
};

const sizes = { everyday: 12, reserved: 4, reports: 6 } as const;

/**
 * Connects to the database. When it stops answering all connections are given up, so that calls meet new ones as soon as
 * there are any. `waitMs`: how long a call waits for a connection, where it is not as long as usual.
 */
export async function connect(databaseUrl: string, log: Logger, waitMs?: number): Promise<Connections> {
  // the quick ones find out first, and where one is silent the others are suspects
  const onSilence = () => pools.forEach((one) => one.discardIdle());
  const pool = createPool(databaseUrl, sizes.everyday, everyday, onSilence);
  const reserved = createPool(databaseUrl, sizes.reserved, quick, onSilence);
  const reports = createPool(databaseUrl, sizes.reports, patient, onSilence);
  const pools = [pool, reserved, reports];
  for (const one of pools) {
    one.on('error', (error) => log.warn({ err: error }, 'An idle database connection was lost'));
    if (waitMs !== undefined) one.options.connectionTimeoutMillis = waitMs;
  }
  const signals = await startSignals(databaseUrl, log, () => pools.forEach((one) => one.discard()));
  return {
    pool,
    db: createDb(pool),
    reserved: { pool: reserved, db: createDb(reserved) },
    reports: createDb(reports),
    signals,
    end: async () => {
      await signals.stop();
      await Promise.all(pools.map((one) => one.end()));
    },
  };
}

/** The same connections, with query builders that `prepare` has given what they carry along. */
export function prepared<C extends Pick<Connections, 'db' | 'reserved' | 'reports'>>(
  connections: C,
  prepare: (db: Db) => Db,
): C {
  const { db, reserved, reports } = connections;
  return {
    ...connections,
    db: prepare(db),
    reserved: { ...reserved, db: prepare(reserved.db) },
    reports: prepare(reports),
  };
}
