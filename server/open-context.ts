import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { connect } from './db/connect.ts';
import type { Addresses } from './db/setting-of.ts';
import { auditKeys, createChainWatch, createRefusals, entryWriter } from './features/audit/index.ts';
import { openKeys } from './features/keys/index.ts';
import { realOutbound } from './outbound-http.ts';
import { openStorage } from './storage/open-storage.ts';

type Options = {
  /** How long a call waits for a connection, in milliseconds, where it is not as long as usual. */
  waitMs?: number;
  /** Tests have another clock, network or key than the real ones. */
  replaced?: Partial<Pick<Context, 'clock' | 'outbound' | 'secrets'>>;
};

/**
 * Opens all that a process serves with, over a database that is migrated: connections, keys, storage, and the audit log,
 * which begins here. `end` closes it. Throws CannotStart where keys do not fit the database.
 */
export async function openContext(
  config: Config,
  log: Logger,
  addresses: Addresses,
  { replaced = {}, ...limits }: Options = {},
) {
  const { end, ...connections } = await connect(addresses, log, { ...limits, processes: config.workers });
  try {
    const clock = replaced.clock ?? (() => new Date());
    const keys = await openKeys(connections.db, config, clock());
    const chainKeys = auditKeys(keys.signer, keys.retired);
    const context: Context = {
      ...connections,
      config,
      log,
      storage: await openStorage(config.storage),
      secrets: keys.secrets,
      outbound: realOutbound,
      writeEntry: entryWriter(chainKeys),
      clock,
      jobsDue: new Map(),
      ...replaced,
    };
    const audit = createChainWatch(context, chainKeys);
    await audit.begin();
    return {
      context,
      keys,
      chainKeys,
      audit,
      refusals: createRefusals(context, chainKeys),
      end: async () => {
        await end();
        context.storage.close();
      },
    };
  } catch (error) {
    // else the end of an embedded database is told as a loss
    await end();
    throw error;
  }
}
