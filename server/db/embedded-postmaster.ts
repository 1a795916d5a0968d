import { spawn } from 'node:child_process';
import { link, readdir, readFile, readlink, realpath, rename, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CannotStart } from '../cannot-start.ts';
import { cleanEnvironment } from './embedded-account.ts';
import type { ClusterLocation } from './embedded-location.ts';

export type Postmaster = { pid: number; port: number; status: string };

const mostLogs = 8;

/** The PostgreSQL that runs on this cluster, no matter who started it; undefined if there is none. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!(pid > 0) || !(await isPostmaster(pid, cluster))) return undefined;
  return { pid, port: Number(lines[3]), status: lines[7] ?? '' };
}

async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  // Pids are soon reused by other programs. The command line of a zombie is empty.
  const [program] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  if (!program || basename(program) !== 'postgres') return false;
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return folder === undefined || folder === (await realpath(cluster));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Starts PostgreSQL and waits until it accepts connections, including crash recovery. Returns why it did not start if a
 * retry makes sense: another start was faster, or took the port. `port` is for a restart while clients are connected;
 * otherwise a free port is chosen.
 */
export async function launch(
  location: ClusterLocation,
  binaries: string,
  { settings, signal }: { settings?: Record<string, string>; signal?: AbortSignal },
  port?: number,
): Promise<CannotStart | undefined> {
  await dropStaleLock(location.cluster);
  const fixed = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port ?? (await freePort())),
  };
  const args = Object.entries({ ...settings, ...fixed }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const child = spawn(join(binaries, 'bin', 'postgres'), ['-D', location.cluster, ...args], {
    ...location.account,
    cwd: '/',
    env: cleanEnvironment(),
    // A session of its own, so that Ctrl-C reaches only us; we stop it after the last request.
    detached: true,
    // a fast stop, as in `halt`
    killSignal: 'SIGINT',
    ...(signal && { signal }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)));
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(said));
  });
  const ready = waitUntilReady(location.cluster, child);
  const ending = await Promise.race([ready, ended]);
  child.unref();
  child.stderr.destroy();
  if (ending === undefined) return undefined;
  // Once its log collector runs, PostgreSQL writes errors to the log file and no longer to our pipe.
  const failure = ending + (await newestLog(location.cluster));
  const refusal = new CannotStart(`PostgreSQL did not start on ${location.cluster}: ${failure.trim()}`);
  const isFull = (text: string) => /No space left on device|Disk quota exceeded/.test(text);
  // On a full disk, neither an unwritable lock file nor an old log line means that another server runs.
  if (
    !isFull(ending) &&
    /lock file|shared memory block|could not bind|could not create any TCP/.test(failure)
  )
    return refusal;
  if (isFull(failure))
    throw new CannotStart(
      `The disk of ${location.cluster} is full: PostgreSQL cannot start. Free some space and start again.`,
    );
  throw refusal;
}

async function waitUntilReady(
  cluster: string,
  child: { pid?: number | undefined; exitCode: number | null },
): Promise<undefined> {
  while (child.pid !== undefined && child.exitCode === null) {
    const found = await findPostmaster(cluster);
    if (found?.pid === child.pid && found.status === 'ready') return;
    await sleep(15);
  }
  await new Promise(() => undefined);
}

/** PostgreSQL clears the lock of a dead process, but not if its pid now belongs to another program. */
async function dropStaleLock(cluster: string): Promise<void> {
  const lock = join(cluster, 'postmaster.pid');
  const text = await readFile(lock, 'utf8').catch(() => undefined);
  if (text === undefined || (await findPostmaster(cluster))) return;
  const aside = `${lock}.stale-${process.pid}`;
  await rename(lock, aside).catch(() => undefined);
  // Another start may have created its own lock since our check.
  const taken = await readFile(aside, 'utf8').catch(() => text);
  if (taken !== text) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

async function newestLog(cluster: string): Promise<string> {
  const name = (await logNames(cluster)).at(-1);
  const text = name ? await readFile(join(cluster, 'log', name), 'utf8').catch(() => '') : '';
  return text.slice(-2000);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Stops PostgreSQL (a "fast" stop: open transactions roll back) and waits until it has exited. */
export async function halt(cluster: string, pid: number): Promise<void> {
  if (!(await isPostmaster(pid, cluster))) return;
  process.kill(pid, 'SIGINT');
  while (await isPostmaster(pid, cluster)) await sleep(15);
}

/** Removes PostgreSQL's old logs: it rotates them by size and day but never deletes them. */
export async function pruneLogs(cluster: string): Promise<void> {
  const old = (await logNames(cluster)).slice(0, -mostLogs);
  for (const name of old) await rm(join(cluster, 'log', name), { force: true }).catch(() => undefined);
}

async function logNames(cluster: string): Promise<string[]> {
  const names = await readdir(join(cluster, 'log')).catch(() => []);
  return names.filter((name) => name.endsWith('.log')).toSorted();
}
