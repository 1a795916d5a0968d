import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import { closeWindows, type ChainWatch } from '../features/audit/audit.ts';
import { keepRetention } from './audit-retention.ts';
import { runBinPurge } from './bin-purge.ts';
import { keepEvents } from './event-keeping.ts';
import { housekeep } from './housekeeping.ts';
import { sweepUploads } from './upload-sweep.ts';
import { verifyFiles } from './verify-files.ts';

type Job = {
  everyMs: number;
  run: (context: Context, audit: ChainWatch) => Promise<unknown>;
  /** What the log says when it did not work out. */
  failed: string;
};

const hourMs = 3_600_000;

const jobs: Job[] = [
  {
    everyMs: 60_000,
    run: (context, audit) => closeWindows(context, audit.keys),
    failed: 'Refusals were not summed up',
  },
  { everyMs: hourMs, run: housekeep, failed: 'Housekeeping failed' },
  { everyMs: hourMs, run: runBinPurge, failed: 'The recycle bin was not purged' },
  { everyMs: hourMs, run: sweepUploads, failed: 'The sweep of uploads failed' },
  { everyMs: hourMs, run: verifyFiles, failed: 'Stored files were not compared with their hashes' },
  { everyMs: hourMs, run: keepEvents, failed: 'Update events were not seen to' },
  { everyMs: 24 * hourMs, run: keepRetention, failed: 'The audit log was not cleaned up' },
];

/** Runs what the clock asks for: each job at once, and then every so often until it is stopped. */
export function startJobs(context: Context, audit: ChainWatch): { stop(): void } {
  const timers = jobs.map(({ everyMs, run, failed }) => {
    const tick = () =>
      void run({ ...context, db: context.reports }, audit).catch((error: unknown) => {
        if (!isDatabaseUnreachable(error)) context.log.error({ err: error }, failed);
      });
    tick();
    return setInterval(tick, everyMs).unref();
  });
  return { stop: () => timers.forEach((timer) => clearInterval(timer)) };
}
