import type { Logger } from 'pino';
import type { WriteEntry } from './change.ts';
import type { Config } from './config.ts';
import type { Connections } from './db/connect.ts';
import type { Secrets } from './secrets.ts';
import type { Storage } from './storage/storage.ts';
import type { Outbound } from './outbound-http.ts';

/** The dependencies of a running server; created by `openContext`. */
export type Context = Omit<Connections, 'end'> & {
  config: Config;
  log: Logger;
  storage: Storage;
  secrets: Secrets;
  outbound: Outbound;
  /** Writes the audit entry of a change. */
  writeEntry: WriteEntry;
  /** The only source of the current time, so that tests can control it. */
  clock: () => Date;
  /** By when each job of this process must succeed again, by job name; empty before jobs are started. */
  jobsDue: Map<string, Date>;
  /** Whether there are reports of machines that the database did not take yet, also of other processes; set by the app. */
  reportsWait: () => Promise<boolean>;
};
