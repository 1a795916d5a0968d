import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { buildApp } from './app.ts';
import { CannotStart } from './cannot-start.ts';
import { warningsOf, type Config } from './config.ts';
import { systemChange } from './change.ts';
import { keepAlive, startEmbedded, type Embedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { patiently } from './db/patiently.ts';
import { requireDatabase } from './db/requirements.ts';
import { atAddress, type Addresses } from './db/setting-of.ts';
import { protectSecondFactors } from './features/session/index.ts';
import { ensureFirstAdmin, seedRoles } from './features/users/index.ts';
import { followRotation, requireKeys } from './features/keys/index.ts';
import { startAuditSealer } from './jobs/audit-sealer.ts';
import { startJobs } from './jobs/jobs.ts';
import { locationsOf, tellLocations } from './locations.ts';
import { tellFirstPassword } from './first-password.ts';
import { holdOpen } from './hold-open.ts';
import { createLog } from './log.ts';
import { openContext } from './open-context.ts';
import { createPasswords } from './passwords.ts';
import { endSignals, stoppingText, stopWithinMs, untilEnded, type Start } from './stop.ts';
import { readVersion } from './version.ts';
import { whileWaiting } from './while-waiting.ts';
import { present } from './invariants.ts';

async function start(
  config: Config,
  log: Logger,
  embedded: Embedded | undefined,
): Promise<() => Promise<void>> {
  const addresses = {
    queries: config.databaseUrl ?? present(embedded, 'without an address there is the embedded database').url,
    direct:
      config.databaseDirectUrl ?? present(embedded, 'without an address there is the embedded database').url,
  };
  const { database } = locationsOf(config, embedded?.cluster);
  const preparing = prepareDatabase(addresses, config, embedded !== undefined);
  const migrated = await whileWaiting(log, `the database ${database}`, preparing);
  if (migrated.length > 0) log.info({ migrated }, 'Database is up to date');

  const { context, keys, chainKeys, audit, refusals, end } = await patiently(() =>
    openContext(config, log, addresses),
  );
  // a worker does not know the folder of the embedded database
  if (!cluster.isWorker) await tellLocations(config, embedded?.cluster, log);
  const passwords = createPasswords(config.workers);
  await patiently(async () => {
    await systemChange(context, context.clock(), ({ tx }) => seedRoles(tx));
    await protectSecondFactors(context, passwords);
    await ensureFirstAdmin(context, passwords, config, context.clock(), (made) =>
      tellFirstPassword(made, { terminal: process.stderr, dataDir: config.dataDir, log }),
    );
  });

  const { version, checkout } = await readVersion();
  if (checkout !== version)
    log.warn(
      { version, checkout },
      'The checkout has another version than what is built. Run: npm run build',
    );
  const app = await buildApp(context, { keys, audit, refusals, passwords, version });
  const auditSealer = startAuditSealer(context, audit);
  const jobs = startJobs(context, audit);
  await context.fill();
  followRotation(context, keys, chainKeys);
  const stopWork = async () => {
    await jobs.stop();
    await auditSealer.stop();
    await passwords.stop();
    await end();
  };
  await app.listen({ port: config.port, host: config.host }).catch(async (error: NodeJS.ErrnoException) => {
    // Otherwise the shutdown of an embedded database is reported as a lost connection.
    await stopWork();
    const why =
      error.code === 'EADDRINUSE'
        ? 'Another program already listens there'
        : 'HOST and PORT lead to no address that this account may use';
    throw new CannotStart(`${why}: ${error.message}`, { cause: error });
  });
  const address = app.server.address();
  log.info({ address }, `Lanyard is ready on ${config.publicUrl}`);

  return async () => {
    await app.close();
    await stopWork();
  };
}

/** The embedded PostgreSQL is known to meet the requirements. */
async function prepareDatabase(addresses: Addresses, config: Config, isEmbedded: boolean): Promise<string[]> {
  if (!isEmbedded) await requireDatabase(addresses);
  return atAddress(addresses, 'direct', async (url) => {
    await requireKeys(url, config, new Date());
    return migrate(url);
  });
}

/** Serves in this process: alone, or as one of several workers. */
export async function runServer(config: Config, starting: Start): Promise<void> {
  const log = createLog(config.logLevel);
  // The primary logs warnings once for all workers.
  if (!cluster.isWorker) for (const warning of warningsOf(config)) log.warn(warning);
  const embedded = config.databaseUrl
    ? undefined
    : await whileWaiting(
        log,
        `the database of ${config.dataDir}`,
        startEmbedded(config.dataDir, {
          exclusive: true,
          log: (message) => log.info(message),
          signal: starting.signal,
        }),
      );
  if (embedded) starting.onEnd(embedded.stop);
  let stop: () => Promise<void>;
  try {
    stop = await start(config, log, embedded);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  const reviving =
    embedded && keepAlive(embedded, (error) => log.error({ err: error }, 'PostgreSQL does not come back'));
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    clearInterval(reviving);
    // not without PostgreSQL, which runs in a session of its own
    const giveUp = () =>
      void holdOpen(untilEnded(Promise.resolve(embedded?.stop()))).finally(() => process.exit(1));
    setTimeout(() => {
      log.error('Shutdown timed out; unfinished work was abandoned');
      giveUp();
    }, config.drainMs + stopWithinMs).unref();
    if (!cluster.isWorker) log.info({ signal }, stoppingText(config));
    holdOpen(stop().then(() => embedded?.stop())).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'Shutdown failed');
        giveUp();
      },
    );
  };
  const { worker } = cluster;
  for (const signal of endSignals)
    // A terminal sends the others to all processes: a worker stops when its primary says so, or is gone.
    process.on(signal, worker && signal !== 'SIGTERM' ? () => undefined : onSignal);
  if (worker) {
    worker.on('disconnect', () => {
      // otherwise Node ends the process at once, and with it the calls under way
      worker.exitedAfterDisconnect = true;
      onSignal('SIGTERM');
    });
  }
  starting.over();
}
