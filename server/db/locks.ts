import { sql } from 'kysely';
import type { Db, Tx } from './client.ts';
import { withoutForeignLimits } from './limits.ts';
import { withClient } from './with-client.ts';
import { onlyRow } from '../invariants.ts';

/**
 * The advisory locks that coordinate all processes on one database, and starts on the embedded cluster. The numbers are
 * arbitrary but must be unique: session and transaction locks share one number space.
 */
export const locks = {
  /** Held by the only server on the embedded cluster. */
  embeddedServer: 5_269_273,
  /** Concurrent starts take turns to create the role that serves requests. */
  embeddedRole: 5_269_274,
  migration: 7_241_160_001,
  housekeeping: 7_241_160_002,
  trashPurge: 7_241_160_003,
  uploadSweep: 7_241_160_004,
  auditSealer: 7_241_160_006,
  auditCleanup: 7_241_160_007,
  eventRotation: 7_241_160_008,
  auditHead: 7_241_160_009,
  refusalWindows: 7_241_160_011,
  keys: 7_241_160_022,
  rolloutWatch: 7_241_160_027,
  imports: 7_241_160_028,
  validationRotation: 7_241_160_029,
} as const;

/** Takes the lock until the transaction ends, when no other transaction or process holds it. */
export async function waitForLock(tx: Db, lock: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
}

/** Takes the lock until the transaction ends; false if another transaction or process holds it. */
export async function tryLock(tx: Tx, lock: number): Promise<boolean> {
  return onlyRow(await sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${lock}) as mine`.execute(tx))
    .mine;
}

/** The name of the connection with which a backup holds locks. */
export const backupName = 'lanyard backup';

/** A backup that hangs is under way for half a day at most: then what waits for it is late. */
export async function isBackupUnderWay(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
     where datname = current_database() and application_name = ${backupName}
       and backend_start > now() - interval '12 hours' limit 1`.execute(db);
  return rows.length > 0;
}

/** How long a process that gives no sign of life keeps a lock. */
const heldMs = 10_000;

/**
 * Runs `work` while a separate connection holds the lock; undefined if another process holds it. For work that takes
 * longer than a transaction may. `directUrl` must bypass poolers, which may give the lock to another client. A process
 * that is frozen loses the lock, and goes on without it when it is not: `work` must bear another one beside it.
 */
export async function withSessionLock<T>(
  directUrl: string,
  lock: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const config = {
    connectionString: directUrl,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    keepAlive: true,
    application_name: 'lanyard lock',
  };
  return withClient(config, async (client) => {
    await client.query(withoutForeignLimits);
    const taken = await client.query<{ mine: boolean }>(
      `select set_config('idle_session_timeout', $2, false), pg_try_advisory_lock($1) as mine`,
      [lock, `${heldMs}ms`],
    );
    if (!onlyRow(taken).mine) return undefined;
    const renewing = setInterval(() => void client.query('select 1').catch(() => undefined), heldMs / 4);
    return work().finally(() => clearInterval(renewing));
  });
}
