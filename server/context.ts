import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Db } from './db/client.ts';
import type { Signals } from './db/signals.ts';
import type { Secrets } from './secrets.ts';
import type { Storage } from './storage/storage.ts';
import type { Outside } from './outside.ts';

/** What a running server has; made once by main, and by the test harness. */
export type Context = {
  config: Config;
  log: Logger;
  db: Db;
  pool: pg.Pool;
  signals: Signals;
  storage: Storage;
  secrets: Secrets;
  outside: Outside;
  /** The only source of the present time, so that tests can move it. */
  clock: () => Date;
};
