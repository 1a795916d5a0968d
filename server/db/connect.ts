import type { Logger } from 'pino';
import { createDb, createPool, type Db, type Pool } from './client.ts';
import { everyday, patient, quick, type Limits } from './limits.ts';
import { atAddress, type Addresses } from './setting-of.ts';
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
  /** The address of the server itself, for what a pooler cannot carry. */
  directUrl: string;
  /** Opens connections before calls need them: many calls come at once to a process that says it is ready. */
  fill: () => Promise<void>;
  end: () => Promise<void>;
};

const sizes = { everyday: 12, reserved: 4, reports: 6 } as const;
/** As many as are left to work with, and as many as several workers may have together. */
const fewest = { everyday: 5, reserved: 2, reports: 1 } as const;
const mostTogether = 88;

type Kind = keyof typeof sizes;

/** How many connections one of several processes opens to where queries go. */
export const mostConnections = (processes: number): number =>
  (Object.keys(sizes) as Kind[]).reduce((sum, kind) => sum + shareOf(kind, processes), 0);

/** How many connections of a kind one of several processes may open, so that PostgreSQL's usual limit of 100 holds. */
function shareOf(kind: Kind, processes: number): number {
  const listening = 1;
  const sum = sizes.everyday + sizes.reserved + sizes.reports;
  const part = Math.min(1, (mostTogether / processes - listening) / sum);
  return Math.max(fewest[kind], Math.floor(sizes[kind] * part));
}

/**
 * Connects to the database. When it stops answering all connections are given up, so that calls meet new ones as soon as
 * there are any. `waitMs`: how long a call waits for a connection, where it is not as long as usual. `processes`: how
 * many share what PostgreSQL allows.
 */
export async function connect(
  addresses: Addresses,
  log: Logger,
  { waitMs, processes = 1 }: { waitMs?: number; processes?: number } = {},
): Promise<Connections> {
  const { queries, direct } = addresses;
  const open = (kind: Kind, limits: Limits) =>
    createPool(queries, shareOf(kind, processes), limits, {
      fewest: kind === 'reports' ? 0 : fewest[kind],
      isShared: queries !== direct,
      askWorking: (serverPids) => signals.working(serverPids),
      // the quick ones find out first, and where one is silent the others are suspects
      onSilence: () => pools.forEach((one) => one.discardIdle()),
    });
  const pool = open('everyday', everyday);
  const reserved = open('reserved', quick);
  const reports = open('reports', patient);
  const pools = [pool, reserved, reports];
  for (const one of pools) {
    one.on('error', (error) => log.warn({ err: error }, 'An idle database connection was lost'));
    if (waitMs !== undefined) one.options.connectionTimeoutMillis = waitMs;
  }
  const signals = await atAddress(addresses, 'direct', (url) =>
    startSignals(url, log, () => pools.forEach((one) => one.discard())),
  );
  return {
    pool,
    db: createDb(pool),
    reserved: { pool: reserved, db: createDb(reserved) },
    reports: createDb(reports),
    signals,
    directUrl: direct,
    fill: async () => void (await Promise.all(pools.map((one) => one.fill()))),
    end: async () => {
      await signals.stop();
      await Promise.all(pools.map((one) => one.end()));
    },
  };
}
