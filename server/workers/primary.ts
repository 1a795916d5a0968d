import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { warningsOf, type Config } from '../config.ts';
import { createLog } from '../log.ts';
import { stoppingText, stopWithinMs } from '../stop.ts';
import { relayMetrics } from './relay.ts';

/** A worker that ran so long did not fail at its start. */
const steadyMs = 30_000;
const longestPauseMs = 30_000;

/**
 * Runs `config.workers` processes that serve one port, replaces those that end, and stops them on SIGTERM and SIGINT. It
 * holds the embedded PostgreSQL, and does nothing else, so that nothing can end it.
 */
export async function runPrimary(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  for (const warning of warningsOf(config)) log.warn(warning);
  const database = config.databaseUrl ? undefined : await startDatabase(config, log);
  const env = database ? { DATABASE_URL: database.url } : {};
  // figures that are not numbers go through as they are
  cluster.setupPrimary({ serialization: 'advanced' });
  relayMetrics();
  let stopping = false;
  let hasServed = false;
  let failures = 0;

  function startWorker(): void {
    const from = performance.now();
    const worker = cluster.fork(env);
    worker.once('listening', () => {
      if (hasServed) return;
      // the first one alone meets an empty database, or settings that are wrong
      hasServed = true;
      for (let more = 1; more < config.workers; more++) startWorker();
    });
    worker.once('exit', (code, signal) => {
      if (stopping) return;
      if (!hasServed) return void stop(code || 1);
      failures = performance.now() - from > steadyMs ? 1 : failures + 1;
      const pauseMs = pauseAfter(failures);
      log.error({ worker: worker.process.pid, code, signal, pauseMs }, 'A worker ended and is replaced');
      setTimeout(() => !stopping && startWorker(), pauseMs);
    });
  }

  async function stop(code: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}) as Worker[];
    const ends = workers.map(async (worker): Promise<number> => {
      const [exitCode] = (await once(worker, 'exit')) as [number | null];
      return exitCode ?? 1;
    });
    for (const worker of workers) worker.process.kill('SIGTERM');
    const giveUp = setTimeout(
      () => workers.forEach((worker) => worker.process.kill('SIGKILL')),
      config.drainMs + stopWithinMs + 2000,
    );
    const codes = await Promise.all(ends);
    clearTimeout(giveUp);
    await database?.stop();
    process.exit(Math.max(code, ...codes));
  }

  const onSignal = (signal: NodeJS.Signals) => {
    if (!stopping) log.info({ signal }, stoppingText(config));
    void stop(0);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  startWorker();
}

/** The first of several failures in a row may be chance; then ever longer, for a worker that cannot start. */
const pauseAfter = (failures: number): number =>
  failures <= 1 ? 0 : Math.min(longestPauseMs, 500 * 2 ** (failures - 2));

async function startDatabase(config: Config, log: Logger) {
  const { startEmbedded, keepAlive } = await import('../db/embedded.ts');
  const embedded = await startEmbedded(config.dataDir, {
    exclusive: true,
    log: (message) => log.info(message),
  });
  const reviving = keepAlive(embedded, (error) => log.error({ err: error }, 'PostgreSQL does not come back'));
  return {
    url: embedded.url,
    stop: () => {
      clearInterval(reviving);
      return embedded.stop();
    },
  };
}
