import type { Logger } from 'pino';
import { createDb, createPool, type Db, type Pool } from './client.ts';
import { everyday, patient, quick, timesLonger, type Limits } from './limits.ts';
import type { Addresses } from './setting-of.ts';
import { startSignals, type Signals } from './signals.ts';

/** The connections of a process, in separate pools so that slow work does not block quick calls. */
export type Connections = {
  /** For everyday calls. */
  db: Db;
  pool: Pool;
  /** For validations and readiness checks, which take milliseconds. */
  reserved: { db: Db; pool: Pool };
  /** For slow work: reports, files, the audit log as a whole. */
  reports: Db;
  signals: Signals;
  /** The address of the server itself, for features that a pooler does not support. */
  directUrl: string;
  /** Opens connections in advance, since many calls arrive as soon as a process reports that it is ready. */
  fill: () => Promise<void>;
  end: () => Promise<void>;
};

const sizes = { everyday: 12, reserved: 4, reports: 6 } as const;
/** The smallest usable pools, and the most that several workers can share. */
const fewest = { everyday: 5, reserved: 2, reports: 1 } as const;
const mostTogether = 88;

type Kind = keyof typeof sizes;

/** The maximum number of connections that one of `processes` opens to the query address. */
export const mostConnections = (processes: number): number =>
  (Object.keys(sizes) as Kind[]).reduce((sum, kind) => sum + shareOf(kind, processes), 0);

/** The maximum pool size of one of `processes`, within PostgreSQL's default limit of 100 connections. */
function shareOf(kind: Kind, processes: number): number {
  const listening = 1;
  const sum = sizes.everyday + sizes.reserved + sizes.reports;
  const part = Math.min(1, (mostTogether / processes - listening) / sum);
  return Math.max(fewest[kind], Math.floor(sizes[kind] * part));
}

/**
 * Connects to the database. If it stops responding, all connections are dropped, so that calls get new ones as soon as
 * possible. All time limits are `limitFactor` times as long. `processes`: how many share PostgreSQL's connection limit.
 */
export async function connect(
  addresses: Addresses,
  log: Logger,
  { limitFactor, processes }: { limitFactor: number; processes: number },
): Promise<Connections> {
  const { queries, direct } = addresses;
  const open = (kind: Kind, limits: Limits) =>
    createPool(queries, shareOf(kind, processes), timesLonger(limits, limitFactor), {
      fewest: kind === 'reports' ? 0 : fewest[kind],
      isShared: queries !== direct,
      askWorking: (serverPids) => signals.working(serverPids),
      // The quick pool notices first; the idle connections of the other pools are then suspect.
      onSilence: () => pools.forEach((one) => one.discardIdle()),
    });
  const pool = open('everyday', everyday);
  const reserved = open('reserved', quick);
  const reports = open('reports', patient);
  const pools = [pool, reserved, reports];
  for (const one of pools) {
    one.on('error', (error) => log.warn({ err: error }, 'An idle database connection was lost'));
  }
  const signals = await startSignals(
    addresses,
    log,
    () => pools.forEach((one) => one.discard()),
    limitFactor,
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
