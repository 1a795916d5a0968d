import type { IsolationLevel } from 'kysely';
import { writable, type Db } from './client.ts';

/** Runs reads in one read-only transaction, by default on one snapshot. */
export const readOnly = <T>(
  db: Db,
  work: (tx: Db) => Promise<T>,
  isolation: IsolationLevel = 'repeatable read',
): Promise<T> =>
  writable(db).transaction().setIsolationLevel(isolation).setAccessMode('read only').execute(work);
