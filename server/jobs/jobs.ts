import { dayMs, hourMs } from '../../contract/durations.ts';
import { systemChange } from '../change.ts';
import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import { isBackupUnderWay } from '../db/locks.ts';
import { closeWindows, type ChainWatch } from '../features/audit/index.ts';
import { checkClock, isJump, jumpSentence, type CheckedTime } from '../checked-time.ts';
import { keepRetention } from './audit-retention.ts';
import { keepDueAffected, purgeTrash } from '../features/releases/index.ts';
import { stepRollouts } from '../features/rollouts/index.ts';
import { endOfflineSeats } from '../features/offline/index.ts';
import { rotateEvents, watchRollouts } from '../features/update-events/index.ts';
import { housekeep } from './housekeeping.ts';
import { untilEnded } from '../stop.ts';
import { sweepUploads } from './upload-sweep.ts';
import { verifyFiles } from '../features/downloads/index.ts';

/** Jobs whose work cannot be undone must not use the clock: they take the time from their `CheckedTime`. */
type JobContext = Omit<Context, 'clock'>;

type Job = {
  /** The name in the metric of late jobs. */
  name: string;
  everyMs: number;
  /** The log message of a failure. */
  failed: string;
} & (
  | { run: (context: Context, audit: ChainWatch, goesOn: () => void) => Promise<Done> }
  | { checked: (context: JobContext, time: CheckedTime, audit: ChainWatch) => Promise<Done> }
);

/** Undefined if another process, or a backup, holds the lock of the work. */
type Done = boolean | number | object | undefined;

/**
 * A job that failed tries again after this time, or after its own interval if that is shorter: before the alert of a
 * late job.
 */
const retryMs = hourMs / 2;

/** The same where a lock was held: soon, and not when all others do, of whom one at a time gets it. */
const heldMs = () => 60_000 * (1 + Math.random());

const jobs: Job[] = [
  {
    name: 'refusals',
    everyMs: 60_000,
    run: (context, audit) => closeWindows(context, audit.keys),
    failed: 'Refusals were not summed up',
  },
  {
    name: 'offline seats',
    everyMs: 60_000,
    checked: endOfflineSeats,
    failed: 'Offline seats were not freed',
  },
  {
    name: 'rollout steps',
    everyMs: 60_000,
    checked: stepRollouts,
    failed: 'The steps of rollouts were not taken',
  },
  {
    name: 'rollout watch',
    everyMs: 15 * 60_000,
    run: watchRollouts,
    failed: 'Rollouts were not watched',
  },
  {
    name: 'withdrawn releases',
    everyMs: 60_000,
    run: keepDueAffected,
    failed: 'Which machines had a withdrawn release was not kept',
  },
  { name: 'housekeeping', everyMs: hourMs, checked: housekeep, failed: 'Housekeeping failed' },
  { name: 'bin purge', everyMs: hourMs, checked: purgeTrash, failed: 'The recycle bin was not purged' },
  { name: 'upload sweep', everyMs: hourMs, checked: sweepUploads, failed: 'The sweep of uploads failed' },
  {
    name: 'file check',
    everyMs: hourMs,
    // not late for as long as it reads, which takes hours for a large storage
    run: (context, _audit, goesOn) => verifyFiles(context, goesOn),
    failed: 'Stored files were not compared with their hashes',
  },
  { name: 'event keeping', everyMs: hourMs, checked: rotateEvents, failed: 'Update events were not rotated' },
  {
    name: 'audit retention',
    everyMs: dayMs,
    checked: keepRetention,
    failed: 'The audit log was not cleaned up',
  },
];

/**
 * Runs scheduled jobs: each one immediately, and then again an interval after its end until stopped. `stop` waits a few seconds for
 * running jobs. Jobs with a checked time are suspended while the clock differs too much from the database.
 */
export function startJobs(context: Context, audit: ChainWatch): { stop(): Promise<void> } {
  const tellJump = createTeller(context);
  const ofJobs = { ...context, db: context.reports };
  /** After how long it runs again. Its work is not done while the clock jumps. */
  const runJob = async (job: Job): Promise<number> => {
    const isOnTime = () => context.jobsDue.set(job.name, new Date(context.clock().getTime() + job.everyMs));
    let done: Done;
    if ('run' in job) done = await job.run(ofJobs, audit, isOnTime);
    else {
      const time = await systemChange(context, context.clock(), ({ tx, now }) => checkClock(tx, now));
      tellJump(isJump(time) ? jumpSentence(time) : undefined);
      if (isJump(time)) return retryMs;
      done = await job.checked(ofJobs, time, audit);
    }
    // tried again by all processes: where one leaves it out for another that fails, none would be late
    if (done === undefined) {
      // which may take hours, and is no reason for an alert
      if (await isBackupUnderWay(context.db)) isOnTime();
      return heldMs();
    }
    isOnTime();
    return job.everyMs;
  };
  let isStopped = false;
  const underWay = new Set<Promise<void>>();
  const timers = new Map<Job, NodeJS.Timeout>();
  const runAgain = async (job: Job): Promise<void> => {
    const nextMs = await runJob(job).catch((error: unknown) => {
      // A job interrupted by a stop continues at the next start.
      if (!isStopped && !isDatabaseUnreachable(error)) context.log.error({ err: error }, job.failed);
      return retryMs;
    });
    if (!isStopped) timers.set(job, setTimeout(tick, Math.min(job.everyMs, nextMs), job).unref());
  };
  const tick = (job: Job): void => {
    const run = runAgain(job).finally(() => underWay.delete(run));
    underWay.add(run);
  };
  for (const job of jobs) {
    context.jobsDue.set(job.name, context.clock());
    tick(job);
  }
  return {
    async stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await untilEnded(Promise.all(underWay));
    },
  };
}

/** Logs a clock jump once, and once its end. */
function createTeller({ log }: Pick<Context, 'log'>): (problem: string | undefined) => void {
  let isTold = false;
  return (problem) => {
    if (problem !== undefined && !isTold) log.error(problem);
    if (problem === undefined && isTold)
      log.info('The clock is right again, or was confirmed: deletions and rollouts continue');
    isTold = problem !== undefined;
  };
}
