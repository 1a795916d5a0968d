import { systemCaller } from '../caller.ts';
import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import { transact } from '../db/signals.ts';
import { isFailure } from '../failure.ts';
import { cleanUp, type AuditKeys } from '../features/audit/audit.ts';

const everyMs = 24 * 3_600_000;

/** Removes audit entries older than the retention: at the start, then once a day. */
export function startAuditRetention(context: Context, keys: AuditKeys): { stop(): void } {
  const run = () =>
    void keepRetention(context, keys).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error))
        context.log.error({ err: error }, 'The audit log was not cleaned up');
    });
  run();
  const timer = setInterval(run, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** One clean-up. Answers how many entries it removed; none where the chain is broken, which is logged. */
export async function keepRetention(context: Context, keys: AuditKeys): Promise<number> {
  const result = await transact(context.db, context.signals, (tx) =>
    cleanUp(tx, systemCaller(context.clock()), keys),
  );
  if (!isFailure(result)) return result.removed;
  context.log.error(result.message);
  return 0;
}
