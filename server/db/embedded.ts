import { setTimeout as sleep } from 'node:timers/promises';
import { hourMs } from '../../contract/durations.ts';
import { CannotStart } from '../cannot-start.ts';
import { codeOf } from './client.ts';
import { succeedsAs } from './embedded-account.ts';
import { findBinaries } from './embedded-binaries.ts';
import { ensureCluster } from './embedded-cluster.ts';
import { holdLock, isServed } from './embedded-lock.ts';
import { locateCluster, type ClusterLocation } from './embedded-location.ts';
import { findPostmaster, halt, launch, type Postmaster, pruneLogs } from './embedded-postmaster.ts';
import { ensureAppRole } from './embedded-role.ts';

/**
 * A running embedded PostgreSQL. `url` uses the role that serves requests, which is not a superuser. `adopted`: it was
 * already running, for example because its server was killed.
 */
export type Embedded = {
  url: string;
  cluster: string;
  adopted: boolean;
  /** Restarts PostgreSQL on its port if it has stopped; no effect while it runs. Throws why it cannot. */
  revive: () => Promise<void>;
  stop: () => Promise<void>;
};

export type EmbeddedOptions = {
  /** A server requires exclusive use of the data directory; a tool shares it. */
  exclusive: boolean;
  log: (message: string) => void;
  /** Ends a PostgreSQL that is being started. */
  signal?: AbortSignal;
  /** PostgreSQL settings for this start only; ignored if it is already running. */
  settings?: Record<string, string>;
};

/** Another server holds the data directory. */
export class DataDirectoryBusy extends CannotStart {
  constructor(dataDir: string) {
    super(
      `Another Lanyard server is already running on the data directory ${dataDir}. ` +
        'Stop that one first, or give this one its own DATA_DIR.',
    );
    this.name = 'DataDirectoryBusy';
  }
}

const giveUpAfterMs = 30_000;

/** Starts the PostgreSQL of a data directory: adopts a running one, or starts it, creating the cluster if needed. */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions): Promise<Embedded> {
  const location = await locateCluster(dataDir);
  const giveUp = performance.now() + giveUpAfterMs;
  for (;;) {
    const { postmaster, adopted } = await findOrLaunch(location, options, giveUp);
    try {
      return await join(location, postmaster, adopted, options);
    } catch (error) {
      // The process that ran it may have stopped it while we connected.
      if (!isGone(error) || performance.now() > giveUp) throw error;
      await sleep(50);
    }
  }
}

async function findOrLaunch(
  location: ClusterLocation,
  options: EmbeddedOptions,
  giveUp: number,
): Promise<{ postmaster: Postmaster; adopted: boolean }> {
  let launched = false;
  let refusal: CannotStart | undefined;
  for (;;) {
    const postmaster = await findPostmaster(location.cluster);
    if (postmaster?.status === 'ready') return { postmaster, adopted: !launched };
    if (!postmaster) {
      if (performance.now() > giveUp)
        throw refusal ?? new CannotStart(`PostgreSQL does not start on ${location.cluster}.`);
      const binaries = await findBinaries(location.dataDir, location.account);
      await ensureCluster(location, binaries, options.log);
      await checkReachable(location);
      refusal = await launch(location, binaries, options);
      launched = refusal === undefined;
    }
    if (!launched) await sleep(25);
  }
}

async function checkReachable(location: ClusterLocation): Promise<void> {
  if (await succeedsAs(location.account, 'cd "$1"', location.cluster)) return;
  throw new CannotStart(
    `The account that owns the database (uid ${location.account?.uid ?? process.getuid?.()}) may not enter ` +
      `${location.cluster}. Let it through the folders above, or move the data directory.`,
  );
}

async function join(
  location: ClusterLocation,
  postmaster: Postmaster,
  adopted: boolean,
  options: EmbeddedOptions,
): Promise<Embedded> {
  const url = await ensureAppRole(location, postmaster.port);
  const lock = options.exclusive ? await holdLock(url, options.log) : undefined;
  if (options.exclusive && !lock) throw new DataDirectoryBusy(location.dataDir);
  options.log(`PostgreSQL ${adopted ? 'was found running' : 'runs'} on 127.0.0.1:${postmaster.port}`);

  void pruneLogs(location.cluster);
  const pruning = setInterval(() => void pruneLogs(location.cluster), hourMs).unref();

  let stopping: Promise<void> | undefined;
  let reviving: Promise<void> | undefined;
  /** What is being started counts as soon as it is found: it may recover for minutes before it is ready. */
  const findStarted = async (): Promise<Postmaster | undefined> => {
    for (;;) {
      const isStarting = reviving !== undefined;
      const running = await findPostmaster(location.cluster);
      if (running || !isStarting) return running;
      await sleep(15);
    }
  };
  const stop = async (): Promise<void> => {
    clearInterval(pruning);
    lock?.forget();
    const ours = lock || (!adopted && !(await isServed(url)));
    const running = ours ? await findStarted() : undefined;
    if (running) await halt(location.cluster, running.pid);
    await lock?.release();
  };
  const revive = async (): Promise<void> => {
    if (stopping || (await findPostmaster(location.cluster))) return;
    const binaries = await findBinaries(location.dataDir, location.account);
    const refusal = await launch(location, binaries, options, postmaster.port);
    if (refusal) throw refusal;
    options.log('PostgreSQL had stopped and runs again');
  };
  return {
    url,
    cluster: location.cluster,
    adopted,
    revive: () =>
      (reviving = revive()
        .catch((error: unknown) => {
          if (!stopping) throw error;
        })
        .finally(() => (reviving = undefined))),
    stop: () => (stopping ??= stop()),
  };
}

/**
 * Restarts the embedded PostgreSQL if it was killed, since it has no service manager of its own. `failed` is told of the
 * second failure in succession, since the first may be of a start beside another one, and then about once a minute.
 */
export function keepAlive(
  embedded: Pick<Embedded, 'revive'>,
  failed: (error: unknown) => void,
): NodeJS.Timeout {
  let reviving = false;
  let failures = 0;
  const onFailure = (error: unknown) => {
    if (++failures % 120 === 2) failed(error);
  };
  return setInterval(() => {
    if (reviving) return;
    reviving = true;
    embedded
      .revive()
      .then(() => (failures = 0), onFailure)
      .finally(() => (reviving = false));
  }, 500).unref();
}

function isGone(error: unknown): boolean {
  return (
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'].includes(codeOf(error) ?? '') ||
    (error instanceof Error && /Connection terminated|not queryable/.test(error.message))
  );
}
