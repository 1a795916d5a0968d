/** What the connections of a pool may be used for. Milliseconds, as PostgreSQL takes them. */
export type Limits = {
  /** A statement is cancelled after this. */
  statementMs: number;
  /** A connection that owes an answer and is silent so long is given up; longer than any statement may take. */
  answerMs: number;
  /** How long a statement may wait for a lock. */
  lockMs: number;
  /** A transaction that waits for us so long is rolled back: we may be cut off, and hold what others need. */
  idleMs: number;
  /**
   * How long a call may wait for a connection, one that is opened for it too, which takes a busy machine more than a
   * second. That the database is lost is told by the heartbeat, sooner.
   */
  waitMs: number;
};

/** For everyday calls. */
export const everyday: Limits = {
  statementMs: 10_000,
  answerMs: 12_000,
  lockMs: 3000,
  idleMs: 4000,
  waitMs: 3000,
};
/** For what is asked all day and answered in a moment. */
export const quick: Limits = { statementMs: 2000, answerMs: 3000, lockMs: 1000, idleMs: 4000, waitMs: 3000 };
/** For what may take long: reports, files, the audit log as a whole. */
export const patient: Limits = {
  statementMs: 60_000,
  answerMs: 300_000,
  lockMs: 30_000,
  idleMs: 30_000,
  waitMs: 10_000,
};
