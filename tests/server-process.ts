import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostmaster, halt } from '../server/db/embedded-postmaster.ts';
import { opened } from './opened.ts';
import { newFolder } from './place.ts';
import { apiAt, signedInAt, type Api, type Identity } from './api-client.ts';
import { isExplainedByLoad, patience } from './time.ts';

const root = join(import.meta.dirname, '..');

export const administrator = { email: 'admin@lanyard.test', password: 'a password for tests' };

/** The built server in a separate process, to be stopped, killed and starved. */
export type ServerProcess = {
  url: string;
  process: ChildProcess;
  /** Its output so far, on both streams. */
  output(): string;
  /** Its output without what a busy machine explains. */
  complaints(): string;
  /** Milliseconds from the start of the process until `/readyz` reported ready. */
  readyMs: number;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>;
  /** Sends the signal and waits for the exit. */
  end(signal: NodeJS.Signals): Promise<number | string>;
};

let lastPort = 10_000 + ((process.pid * 89) % 20_000);

/**
 * A port below those that the kernel gives to connections and to whoever listens on any: it is still free when a server
 * takes it, and when it is started again.
 */
export async function freePort(): Promise<number> {
  const port = (lastPort = lastPort < 32_000 ? lastPort + 1 : 10_000);
  const server = createServer();
  const isFree = await new Promise((resolve) =>
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
  );
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A data directory that PostgreSQL's account can enter too. It is removed at the end of the test or file. */
export async function newDataDir(): Promise<string> {
  const folder = await newFolder();
  opened.add(() => removeDataDir(folder));
  return folder;
}

/** Copies the keys of another data directory, as processes that share a database need. */
export async function copyKeys(from: string, to: string): Promise<void> {
  for (const name of ['signing-key.pem', 'secrets-key']) await copyFile(join(from, name), join(to, name));
}

/** Stops the PostgreSQL of a data directory, whoever started it, and removes the directory. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const running = await findPostmaster(join(dataDir, 'postgres'));
  if (running) {
    for (const pid of familyOf(running.pid)) signal(pid, 'SIGCONT');
    await halt(join(dataDir, 'postgres'), running.pid);
  }
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * What runs, where it is not this checkout, or not the Node of the tests; and a file for its log, which is then missing
 * in `output()`.
 */
type Built = { checkout?: string | undefined; node?: string | undefined; log?: number | undefined };

const longer = () => ({ DATABASE_LIMIT_FACTOR: process.env.DATABASE_LIMIT_FACTOR ?? '20' });

/** The limits of the database as in service, for tests of them and of outages. */
export const asInService = { DATABASE_LIMIT_FACTOR: '1' };

/**
 * Runs the built server as `npm start` does, without waiting. The database may take longer than in service, as in
 * `startTestServer`, so that a busy machine makes no 503.
 */
export function spawnServer(settings: Record<string, string>, { checkout = root, node, log }: Built = {}) {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const [, ...flags] = scripts.start.split(' ');
  const main = flags.pop()!;
  return spawnBuilt({ ...longer(), ...settings }, [...flags, join(checkout, main)], node, log);
}

/** Starts the tool behind an npm script, such as `npm run backup`, as patient as `spawnServer`. */
export const spawnTool = (
  name: 'keys' | 'backup' | 'restore' | 'demo' | 'audit-verify',
  settings: Record<string, string>,
  ...args: string[]
) =>
  spawnBuilt({ ...longer(), ...settings }, [
    '--enable-source-maps',
    join(root, `dist/tools/${name}.js`),
    ...args,
  ]);

/**
 * Runs the tool behind an npm script, and returns its exit code and output. Without its progress: on a busy machine, a
 * line of that may stand between any two others.
 */
export async function runTool(...of: Parameters<typeof spawnTool>) {
  const { ended, output } = spawnTool(...of);
  return { code: await ended, said: output().replaceAll(/^ {2}\S+ MB so far\n/gm, '') };
}

function spawnBuilt(
  settings: Record<string, string>,
  args: string[],
  node = process.execPath,
  log: number | 'pipe' = 'pipe',
): Omit<ServerProcess, 'readyMs' | 'url'> {
  if (!existsSync(args.find((one) => one.endsWith('.js'))!))
    throw new Error('It is not built: run `node tools/prepare.mjs build`.');
  const { PATH, HOME } = process.env;
  const child = spawn(node, args, {
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', log, 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, by) => resolve(code ?? by ?? 'unknown'));
  });
  return {
    process: child,
    output: () => said,
    complaints: () =>
      said
        .split(/(?<=\n)/)
        .filter((line) => !isExplainedByLoad(line))
        .join(''),
    ended,
    end(by) {
      child.kill(by);
      return ended;
    },
  };
}

/** The output of a start that must fail: with 1, and with a sentence instead of a stack trace. */
export async function refusedStart(settings: Record<string, string>): Promise<string> {
  const server = spawnServer({ PORT: String(await freePort()), ...settings });
  const timer = setTimeout(() => server.process.kill('SIGKILL'), patience(60_000));
  const code = await server.ended;
  clearTimeout(timer);
  assert.equal(code, 1, server.output());
  assert.doesNotMatch(server.complaints(), /^\s+at | at .*\.(js|ts):\d+/m);
  return server.output();
}

/** Runs the built server and waits until it is ready. It is killed at the end of the test or file. */
export async function startServer(settings: Record<string, string>, built?: Built): Promise<ServerProcess> {
  const from = performance.now();
  const PORT = settings.PORT ?? String(await freePort());
  const { email, password } = administrator;
  const server = spawnServer({ PORT, ADMIN_EMAIL: email, ADMIN_PASSWORD: password, ...settings }, built);
  opened.add(() => server.end('SIGKILL'));
  const url = `http://127.0.0.1:${PORT}`;
  let over = false;
  void server.ended.then(() => (over = true));
  while (!(await isReady(url))) {
    if (over) throw new Error(`The server ended before it was ready:\n${server.output()}`);
    if (performance.now() - from > patience(60_000))
      throw new Error(`The server did not become ready:\n${server.output()}`);
    await sleep(30);
  }
  return { ...server, url, readyMs: performance.now() - from };
}

/** Two servers that share a database and a storage, each with its own data directory and the same keys. */
export async function startTwo(
  settings: (dataDir: string) => Record<string, string>,
  [first, second]: [string, string],
): Promise<[ServerProcess, ServerProcess]> {
  const shared = { STORAGE_URL: `file:${join(first, 'binaries')}` };
  const one = await startServer({ ...settings(first), ...shared });
  await copyKeys(first, second);
  return [one, await startServer({ ...settings(second), ...shared })];
}

export const isReady = (url: string) =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.ok,
    () => false,
  );

/** A client of the administrator, signed in. */
export const signInAdministrator = async (server: Pick<ServerProcess, 'url'>): Promise<Api> =>
  apiAt(server.url, await administratorAt(server));

/** The headers of the signed-in administrator. */
export const administratorAt = ({ url }: Pick<ServerProcess, 'url'>): Promise<Identity> =>
  signedInAt(url, administrator);

/** A process and all its descendants. */
export function familyOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((other) => other > 0 && parentOf(other) === pid);
  return [pid, ...children.flatMap(familyOf)];
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Sends a signal to a process that may have exited already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The command line of a running PostgreSQL, to start it again on the same port. */
export function rememberStart(pid: number): () => void {
  const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const { uid, gid } = statSync(`/proc/${pid}`);
  return () => {
    spawn(program!, args, { uid, gid, cwd: '/', detached: true, stdio: 'ignore', env: {} }).unref();
  };
}
