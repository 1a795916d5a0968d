import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { warningsOf, type Config } from '../config.ts';
import { tellLocations } from '../locations.ts';
import { createLog } from '../log.ts';
import { endSignals, stoppingText, stopWithinMs, type Start } from '../stop.ts';
import { whileWaiting } from '../while-waiting.ts';
import { relayMetrics } from './relay.ts';

/** A worker that ran this long did not fail at startup. */
const startupMs = 30_000;
const maxPauseMs = 30_000;

/**
 * Runs `config.workers` processes on one port, replaces those that exit, and stops them on SIGTERM, SIGINT and SIGHUP. It also
 * runs the embedded PostgreSQL. It serves no requests, so that none can crash it.
 */
export async function runPrimary(config: Config, starting: Start): Promise<void> {
  const log = createLog(config.logLevel);
  for (const warning of warningsOf(config)) log.warn(warning);
  const database = config.databaseUrl ? undefined : await startDatabase(config, log, starting);
  const env = database ? { DATABASE_URL: database.url } : {};
  // JSON would turn NaN in metrics into null
  cluster.setupPrimary({ serialization: 'advanced' });
  relayMetrics();
  let stopping = false;
  let hasServed = false;
  let failures = 0;

  function startWorker(): void {
    const from = performance.now();
    let worker: Worker;
    try {
      worker = cluster.fork(env);
    } catch (error) {
      return notForked(error);
    }
    worker.once('listening', () => {
      if (hasServed) return;
      // only the first worker migrates the database, and exits if the settings are wrong
      hasServed = true;
      tellLocations(config, database?.cluster, log).catch((error: unknown) =>
        log.error({ err: error }, 'DATA_DIR cannot be written'),
      );
      for (let more = 1; more < config.workers; more++) startWorker();
    });
    worker.on('error', (error) => {
      const { pid } = worker.process;
      if (pid !== undefined) return log.warn({ err: error, worker: pid }, 'A worker took no message');
      // no exit follows
      delete cluster.workers?.[worker.id];
      notForked(error);
    });
    worker.once('exit', (code, signal) => {
      if (stopping) return;
      if (!hasServed) return void stop(code || 1);
      if (performance.now() - from > startupMs) failures = 0;
      startAgain('A worker ended and is replaced', { worker: worker.process.pid, code, signal });
    });
  }

  /** As where the machine is short of memory, or the service of processes. */
  function notForked(error: unknown): void {
    if (stopping) return;
    if (hasServed) return startAgain('A worker cannot be started', { err: error });
    log.error({ err: error }, 'A worker cannot be started');
    void stop(1);
  }

  function startAgain(message: string, why: object): void {
    const pauseMs = pauseAfter(++failures);
    log.error({ ...why, pauseMs }, message);
    setTimeout(() => !stopping && startWorker(), pauseMs);
  }

  async function stop(code: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}) as Worker[];
    const ends = workers.map(
      (worker) =>
        new Promise<number>((resolve) => {
          worker.once('exit', (exitCode: number | null) => resolve(exitCode ?? 1));
        }),
    );
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
  for (const signal of endSignals) process.on(signal, onSignal);
  starting.over();
  startWorker();
}

/** One failure is retried immediately; repeated failures mean a worker that cannot start, so the pause doubles. */
const pauseAfter = (failures: number): number =>
  failures <= 1 ? 0 : Math.min(maxPauseMs, 500 * 2 ** (failures - 2));

async function startDatabase(config: Config, log: Logger, { signal }: Start) {
  const { startEmbedded, keepAlive } = await import('../db/embedded.ts');
  const starting = startEmbedded(config.dataDir, {
    exclusive: true,
    log: (message) => log.info(message),
    signal,
  });
  const embedded = await whileWaiting(log, `the database of ${config.dataDir}`, starting);
  const keepAliveTimer = keepAlive(embedded, (error) =>
    log.error({ err: error }, 'PostgreSQL does not come back'),
  );
  return {
    url: embedded.url,
    cluster: embedded.cluster,
    stop: () => {
      clearInterval(keepAliveTimer);
      return embedded.stop();
    },
  };
}
