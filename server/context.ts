import type { Logger } from 'pino';
import type { WriteEntry } from './change.ts';
import type { Config } from './config.ts';
import type { Connections } from './db/connect.ts';
import type { Secrets } from './secrets.ts';
import type { Storage } from './storage/storage.ts';
import type { Outbound } from './outbound-http.ts';

/** What a running server has; made once by main, and by the test harness. */
export type Context = Omit<Connections, 'end'> & {
  config: Config;
  log: Logger;
  storage: Storage;
  secrets: Secrets;
  outbound: Outbound;
  /** How a change writes its audit entries. */
  writeEntry: WriteEntry;
  /** The only source of the present time, so that tests can move it. */
  clock: () => Date;
  /** When each job of this process must have succeeded again, by its name; empty before jobs are started. */
  jobsDue: Map<string, Date>;
};
