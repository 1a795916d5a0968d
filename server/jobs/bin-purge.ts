import { sql } from 'kysely';
import { systemCaller } from '../caller.ts';
import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import { transact } from '../db/signals.ts';
import { purgeBin } from '../features/releases/releases.ts';

const everyMs = 3_600_000;
/** What goes in one transaction: a release takes the record of its downloads along, which may be long. */
const atOnce = 5;
/** Any fixed number will do; the processes on one database must only agree on it. */
export const purgeLock = 7_241_160_003;

/** Empties the recycle bin of what has lain there for 30 days: at the start, then once an hour. */
export function startBinPurge(context: Context): { stop(): void } {
  const run = () =>
    void runBinPurge(context).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error)) context.log.error({ err: error }, 'The recycle bin was not purged');
    });
  run();
  const timer = setInterval(run, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** One purge. Answers how many releases this process removed; while another process is at it, none. */
export async function runBinPurge(context: Context): Promise<number> {
  for (let removed = 0; ;) {
    const batch = await transact(context.db, context.signals, async (tx) => {
      const { rows } = await sql<{
        mine: boolean;
      }>`select pg_try_advisory_xact_lock(${purgeLock}) as mine`.execute(tx);
      return rows[0]!.mine ? purgeBin(tx, systemCaller(context.clock()), context, atOnce) : 0;
    });
    removed += batch;
    if (batch < atOnce) return removed;
  }
}
