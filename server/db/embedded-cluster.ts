import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CannotStart } from '../cannot-start.ts';
import { createPrivate, syncFolder } from '../files.ts';
import { cleanEnvironment } from './embedded-account.ts';
import type { ClusterLocation } from './embedded-location.ts';

/** The superuser of the cluster and the name of our database in it. */
export const databaseName = 'lanyard';

const superuserPasswordFile = 'lanyard-password';
export const appPasswordFile = 'lanyard-app-password';

/** Creates the cluster if there is none, atomically, even if two starts run concurrently. */
export async function ensureCluster(
  location: ClusterLocation,
  binaries: string,
  log: (message: string) => void,
): Promise<void> {
  const major = await readFile(join(location.cluster, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (major !== undefined) return checkVersion(location, binaries, major.trim());

  log(`Creating the database in ${location.cluster}`);
  const draft = await mkdtemp(`${location.cluster}.new-`);
  try {
    const passwordFile = join(draft, 'password');
    await createPrivate(passwordFile, randomBytes(24).toString('base64url'));
    if (location.account) {
      for (const path of [passwordFile, draft]) await chown(path, location.account.uid, location.account.gid);
    }
    await initdb(location, binaries, join(draft, 'cluster'), passwordFile);
    await rename(passwordFile, join(draft, 'cluster', superuserPasswordFile));
    await publish(join(draft, 'cluster'), location.cluster);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Reads a password, by default that of the superuser. */
export async function readPassword(cluster: string, name = superuserPasswordFile): Promise<string> {
  const file = join(cluster, name);
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new CannotStart(`The password of the database cannot be read from ${file}: ${cause.message}`, {
      cause,
    });
  });
  return text.trim();
}

async function checkVersion(location: ClusterLocation, binaries: string, major: string): Promise<void> {
  const { stdout } = await promisify(execFile)(join(binaries, 'bin', 'postgres'), ['--version'], {
    ...location.account,
    cwd: '/',
    env: cleanEnvironment(),
  });
  const ours = /(\d+)/.exec(stdout)?.[1];
  if (ours === major) return;
  throw new CannotStart(
    `The database in ${location.cluster} was made by PostgreSQL ${major}, and the bundled one is ${ours}. With the version ` +
      'of Lanyard that ran on it, and all its processes stopped: npm run backup -- FILE. Then with this one, and ' +
      'DATA_DIR set to a new folder: npm run restore -- FILE. Nothing was changed.',
  );
}

async function initdb(
  location: ClusterLocation,
  binaries: string,
  target: string,
  passwordFile: string,
): Promise<void> {
  const args = [
    `--pgdata=${target}`,
    `--username=${databaseName}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--data-checksums',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...Object.entries(clusterSettings()).map(([name, value]) => `--set=${name}=${value}`),
  ];
  const options = { ...location.account, cwd: dirname(target), env: cleanEnvironment() };
  await promisify(execFile)(join(binaries, 'bin', 'initdb'), args, options).catch(
    (error: Error & { stderr?: string }) => {
      throw new CannotStart(
        `PostgreSQL could not create a database in ${location.cluster}: ${error.stderr || error.message}`,
        { cause: error },
      );
    },
  );
}

/** Written to postgresql.conf once; an operator may change them there. */
function clusterSettings(): Record<string, string> {
  const megabytes = Math.floor(totalmem() / 1024 / 1024);
  return {
    shared_buffers: `${Math.max(32, Math.min(256, Math.floor(megabytes / 8)))}MB`,
    effective_cache_size: `${Math.max(128, Math.min(4096, Math.floor(megabytes / 2)))}MB`,
    work_mem: '16MB',
    maintenance_work_mem: '64MB',
    max_connections: '100',
    random_page_cost: '1.1',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and details contain customer data, which must not be logged.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%Y-%m-%d_%H%M%S.log',
    log_rotation_age: '1d',
    log_rotation_size: '10MB',
  };
}

async function publish(made: string, cluster: string): Promise<void> {
  try {
    await rename(made, cluster);
  } catch (error) {
    // Another start finished first: use its cluster and remove ours.
    if (['ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
    throw error;
  }
  await syncFolder(dirname(cluster));
}
