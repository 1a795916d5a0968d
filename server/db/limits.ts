/** Limits for the connections of a pool, in milliseconds. */
export type Limits = {
  /** The statement timeout. */
  statementMs: number;
  /** A connection without a response for this long is dropped; must exceed the statement timeout. */
  silentMs: number;
  /** The lock timeout. */
  lockMs: number;
  /** Transactions idle for this long are rolled back: we may be disconnected while holding locks. */
  idleMs: number;
  /**
   * How long a call may wait for a connection, including opening one, which takes a busy machine more than a second.
   * The heartbeat detects a lost database sooner.
   */
  waitMs: number;
  /** If calls wait and none got a connection for this long, the pool is stuck. */
  stuckMs: number;
};

/** The lock timeout of a change when it is tried first: long enough for locks that are held briefly. */
export const changeLockMs = 300;

/**
 * Removes the limits that an administrator has set for the role or the database; not every version has all of them. The
 * first one alone, since it may be too short for the others.
 */
export const withoutForeignLimits = `set statement_timeout = 0; select set_config(name, '0', false) from pg_settings where name in (
  'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`;

export const timesLonger = (limits: Limits, factor: number) =>
  Object.fromEntries(Object.entries(limits).map(([name, ms]) => [name, ms * factor])) as Limits;

/** For everyday calls. */
export const everyday: Limits = {
  statementMs: 10_000,
  silentMs: 12_000,
  lockMs: 3000,
  idleMs: 4000,
  waitMs: 3000,
  stuckMs: 500,
};
/** For frequent calls that take milliseconds. */
export const quick: Limits = {
  statementMs: 2000,
  silentMs: 3000,
  lockMs: 1000,
  idleMs: 4000,
  waitMs: 3000,
  stuckMs: 500,
};
/** For slow work: reports, files, the audit log as a whole. */
export const patient: Limits = {
  statementMs: 60_000,
  silentMs: 300_000,
  lockMs: 30_000,
  idleMs: 30_000,
  waitMs: 10_000,
  stuckMs: 500,
};
