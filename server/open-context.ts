import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { connect } from './db/connect.ts';
import type { Addresses } from './db/setting-of.ts';
import { auditKeys, createChainWatch, createRefusals, entryWriter } from './features/audit/index.ts';
import { openKeys } from './features/keys/index.ts';
import { realOutbound } from './outbound-http.ts';
import { openStorage } from './storage/open-storage.ts';

/** How many links of the audit chain a process checks each minute. */
const sectionLinks = 5000;

/** Replacements by tests for the clock, network or key. */
type Replaced = Partial<Pick<Context, 'clock' | 'outbound' | 'secrets'>>;

/**
 * Opens everything a process needs to serve, on a migrated database: connections, keys, storage and the audit log,
 * which is initialized here. `end` closes it. Throws CannotStart if the keys do not match the database.
 */
export async function openContext(
  config: Config,
  log: Logger,
  addresses: Addresses,
  replaced: Replaced = {},
) {
  const { end: disconnect, ...connections } = await connect(addresses, log, {
    limitFactor: config.databaseLimitFactor,
    processes: config.workers,
  });
  let storage: Context['storage'] | undefined;
  const end = async () => {
    await disconnect();
    storage?.close();
  };
  try {
    const clock = replaced.clock ?? (() => new Date());
    const keys = await openKeys(connections.db, config, clock());
    storage = await openStorage(config.storage);
    const chainKeys = auditKeys(keys.signer, keys.retired);
    const context: Context = {
      ...connections,
      config,
      log,
      storage,
      secrets: keys.secrets,
      outbound: realOutbound,
      writeEntry: entryWriter(chainKeys),
      clock,
      jobsDue: new Map(),
      reportsWait: () => Promise.resolve(false),
      ...replaced,
    };
    const audit = createChainWatch(context, chainKeys, sectionLinks);
    await audit.begin();
    return {
      context,
      keys,
      chainKeys,
      audit,
      refusals: createRefusals(context, chainKeys),
      end,
    };
  } catch (error) {
    // Otherwise the shutdown of an embedded database is reported as a lost connection.
    await end();
    throw error;
  }
}
