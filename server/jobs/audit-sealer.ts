import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import { sealPending, type AuditKeys } from '../features/audit/audit.ts';

/** Entries are sealed within a second of their commit. */
const everyMs = 300;

/** Seals audit entries as they are committed. Every process tries; one at a time does. */
export function startAuditSealer(context: Context, keys: AuditKeys): { stop(): Promise<void> } {
  let sealing: Promise<void> | undefined;
  const run = () =>
    (sealing ??= sealPending(context.db, keys, context.clock)
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!isDatabaseUnreachable(error)) context.log.error({ err: error }, 'Audit entries were not sealed');
      })
      .finally(() => (sealing = undefined)));
  const timer = setInterval(() => context.signals.isUp() && void run(), everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      // what the last calls wrote is sealed before the process goes
      await sealing;
      if (context.signals.isUp()) await run();
    },
  };
}
