import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { customers } from '../contract/customers.ts';
import { findPostmaster } from '../server/db/embedded-postmaster.ts';
import { startEmbedded } from '../server/db/embedded.ts';
import { migrate } from '../server/db/migrate.ts';
import { requireDatabase } from '../server/db/requirements.ts';
import { root } from '../server/root.ts';
import { whyNotStarted } from '../server/why-not-started.ts';
import { createTestDatabase, eventually, startTestServer } from './harness.ts';
import { newFolder } from './place.ts';
import {
  asInService,
  freePort,
  isReady,
  newDataDir,
  refusedStart,
  signInAdministrator,
  spawnServer,
  startServer,
} from './server-process.ts';
import { startSwitch } from './tcp-switch.ts';
import { ask } from './work.ts';

/* Messages for the operator when the service does not start, while it waits, and when it stops. */

const database = await createTestDatabase();
const dataDir = await newDataDir();

const refusal = (settings: Record<string, string>) =>
  refusedStart({ DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...settings });

/** The sentence of a start that is refused for its addresses. */
const whyNot = (queries: string, direct = queries) =>
  requireDatabase({ queries, direct }).then(() => 'It is not refused', whyNotStarted);

function changed(change: (url: URL) => unknown): string {
  const url = new URL(database.url);
  change(url);
  return url.href;
}

describe('a start is refused with a sentence', () => {
  test('for a password that is not right', async () => {
    const url = changed((one) => (one.password = 'wrong'));
    expect(await refusal({ DATABASE_URL: url })).toContain(
      'The PostgreSQL of DATABASE_URL refuses the password',
    );
  });

  test.for<[string, (url: URL) => unknown, string]>([
    [
      'an address without the password',
      (url) => (url.password = ''),
      'The PostgreSQL of DATABASE_URL asks for a password, and the address has none.',
    ],
    [
      'TLS with a server that has none',
      (url) => url.searchParams.set('sslmode', 'verify-full'),
      'The database of DATABASE_URL cannot be reached: The server does not support SSL connections',
    ],
    [
      'a role that there is not',
      (url) => (url.username = 'nobody_here'),
      'The PostgreSQL of DATABASE_URL refuses the password: password authentication failed for user "nobody_here"',
    ],
    [
      'a database that there is not',
      (url) => (url.pathname = '/none'),
      'The PostgreSQL of DATABASE_URL has no such database: database "none" does not exist',
    ],
  ])('for %s', async ([, change, sentence]) => {
    expect(await whyNot(changed(change))).toBe(sentence);
  });

  test('which names the setting whose address was wrong, where there are two', async () => {
    const wrong = changed((one) => (one.password = 'wrong'));
    expect(await whyNot(database.url, wrong)).toContain('DATABASE_DIRECT_URL refuses the password');
    expect(await whyNot(wrong, database.url)).toContain('DATABASE_URL refuses the password');
    const port = String(await freePort());
    const closed = changed((one) => (one.port = port));
    expect(await whyNot(database.url, closed)).toContain('DATABASE_DIRECT_URL cannot be reached');
  });

  test('for a new database with an unusable bucket', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const bucket = { bucket: 'releases', prefix: 'lanyard/', endpoint, region: 'us-east-1', redirect: false };
    const starting = startTestServer({ config: { storage: { kind: 's3', ...bucket } } });
    expect(await starting.then(() => '', whyNotStarted)).toMatch(
      /^The storage s3:\/\/releases\/lanyard\/ at http.* cannot be used: .*STORAGE_URL works/m,
    );
  });

  test('for a schema that a newer version made', async () => {
    const newer = await createTestDatabase();
    await ask(newer.url, `insert into schema_migrations (name) values ('9999_future.sql')`);
    await expect(migrate(newer.url)).rejects.toThrow(
      'The database was migrated by a newer Lanyard (9999_future.sql). Start that version.',
    );
  });

  test('for a copy of a data directory whose database is elsewhere', async () => {
    const copy = await newDataDir();
    await mkdir(copy, { recursive: true });
    await writeFile(join(copy, 'signing-key.pem'), 'its key');
    await writeFile(
      join(copy, 'database-location.txt'),
      'The database is in\n/var/lib/lanyard/0123456789ab/postgres\n',
    );
    await expect(startEmbedded(copy, { exclusive: true, log: () => undefined })).rejects.toThrow(
      'says that the database lies in /var/lib/lanyard/0123456789ab/postgres, and there is none',
    );
  });

  test('for a data directory that is a link to a disk that is not mounted', async () => {
    const link = join(await newDataDir(), 'link');
    await mkdir(dirname(link), { recursive: true });
    await symlink('/mnt/not-there/lanyard', link);
    for (const settings of [{ DATA_DIR: link }, { DATA_DIR: link, DATABASE_URL: database.url }])
      expect(await refusal(settings)).toContain(`mkdir '${link}'. DATA_DIR must be a folder`);
  });

  test('for a PostgreSQL that hangs, and says every few seconds that it waits', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const another = await newDataDir();
    const direct = `postgres://lanyard:secret@127.0.0.1:${port}/direct`;
    const [said, saidOfDirect] = await Promise.all([
      refusal({ DATABASE_URL: `postgres://lanyard:secret@127.0.0.1:${port}/lanyard` }),
      refusal({ DATA_DIR: another, DATABASE_URL: database.url, DATABASE_DIRECT_URL: direct }),
    ]);
    expect(
      said.match(/Still waiting for the database postgres:\/\/lanyard@127\.0\.0\.1:\d+\/lanyard \(\d+ s\)/g)!
        .length,
    ).toBeGreaterThanOrEqual(2);
    expect(said).toContain('cannot be reached: timeout expired');
    expect(said).not.toContain('secret');
    expect(saidOfDirect).toMatch(
      /Still waiting for the database postgres:\/\/lanyard@127\.0\.0\.1:\d+\/direct, through postgres:/,
    );
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

test('a start says where everything is, the data directory too, and a clean stop has nothing to warn of', async () => {
  const own = await newDataDir();
  const server = await startServer({ DATA_DIR: own, LOG_LEVEL: 'info' });
  const locations = await readFile(join(own, 'locations.txt'), 'utf8');
  expect(locations).toContain(`database: ${own}/postgres\nbinaries: ${own}/binaries\n`);
  expect(server.output()).toContain(
    `Data: database ${own}/postgres, binaries ${own}/binaries, keys ${own}/signing-key.pem`,
  );
  // as when its terminal is closed
  expect(await server.end('SIGHUP')).toBe(0);
  expect(await findPostmaster(join(own, 'postgres'))).toBeUndefined();
  const warnings = server
    .complaints()
    .split('\n')
    .filter((line) => /"level":[4-9]\d/.test(line));
  expect(warnings).toEqual([]);
  expect(server.output()).not.toContain('was lost');
  await rm(join(own, 'signing-key.pem'));
  const said = await refusal({ DATA_DIR: own });
  expect(said).toContain('This database belongs to the signing key');
  expect(said).not.toContain('was lost');
});

test('a start on a checkout that was replaced and not built says so, and has the version that runs', async () => {
  const checkout = await newFolder();
  await cp(join(root, 'dist'), join(checkout, 'dist'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const itself = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  await writeFile(join(checkout, 'package.json'), JSON.stringify({ ...itself, version: '9.9.9' }));
  const { url } = await createTestDatabase();
  const settings = { DATABASE_URL: url, DATA_DIR: await newDataDir(), LOG_LEVEL: 'warn' };
  const server = await startServer(settings, { checkout });
  const { info } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { info: object };
  expect(info).toMatchObject({ version: itself.version });
  expect(server.output()).toContain(
    'The checkout has another version than what is built. Run: npm run build',
  );
});

test('a start goes on where it cannot write locations.txt, as on a disk that has become read-only', async () => {
  const own = await newDataDir();
  await mkdir(join(own, 'locations.txt'), { recursive: true });
  const { url } = await createTestDatabase();
  const server = await startServer({ DATABASE_URL: url, DATA_DIR: own, LOG_LEVEL: 'error' });
  expect(server.output()).toContain('The locations cannot be written');
});

test('a start goes on when the database does not answer for a moment', async () => {
  const line = await startSwitch(database.url);
  const starting = startServer({
    ...asInService,
    DATABASE_URL: line.url,
    DATA_DIR: await newDataDir(),
    LOG_LEVEL: 'error',
  });
  let isListening = false;
  // of all connections at once, as on a busy machine, and right after the heartbeat began
  while (!isListening) {
    line.silence((said) => (isListening ||= /listen lanyard[^]*isReadOnly/.test(said)));
    await sleep(1);
  }
  // what the start asks meanwhile has no answer before the heartbeat is given up
  line.newOnes = 'slow';
  line.silence();
  // by then it is given up, and the start asks again
  await sleep(5000);
  line.newOnes = 'forward';
  const { url } = await starting;
  await eventually(() => isReady(url));
});

test('a signal ends a start, and the embedded database that it started', async () => {
  const own = await newDataDir();
  const first = spawnServer({ DATA_DIR: own, PORT: String(await freePort()) });
  const cluster = join(own, 'postgres');
  await eventually(async () => (await findPostmaster(cluster)) !== undefined);
  expect(await first.end('SIGTERM')).toBe(0);
  await eventually(async () => (await findPostmaster(cluster)) === undefined);
  expect(first.output()).not.toContain('is ready');
});

test('a stop that gives up what is under way ends the embedded database too', async () => {
  const own = await newDataDir();
  const server = await startServer({ DATA_DIR: own });
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined);
  socket.write('POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n');
  socket.write('content-length: 99\r\nexpect: 100-continue\r\n\r\n');
  await once(socket, 'data');
  expect(await server.end('SIGTERM')).toBe(1);
  expect(server.output()).toContain('Shutdown timed out');
  await eventually(async () => (await findPostmaster(join(own, 'postgres'))) === undefined);
});

test('a signal ends a start that waits for the database, with workers too', async () => {
  const empty = await createTestDatabase({ empty: true });
  const line = await startSwitch(empty.url);
  line.newOnes = 'silent';
  for (const [WORKERS, signal] of [
    ['1', 'SIGTERM'],
    ['2', 'SIGHUP'],
  ] as const) {
    const settings = { DATABASE_URL: line.url, DATA_DIR: await newDataDir(), WORKERS };
    const server = spawnServer({ ...settings, PORT: String(await freePort()) });
    await eventually(() => server.output().includes('Still waiting for the database'));
    expect(await server.end(signal)).toBe(0);
  }
});

test('a statement_timeout of a millisecond for the database is lifted, or what ends the start is a sentence', async () => {
  const short = await createTestDatabase({ empty: true });
  const { pathname } = new URL(short.url);
  await ask(short.url, `alter database ${pathname.slice(1)} set statement_timeout = '1ms'`);
  const settings = { DATABASE_URL: short.url, DATA_DIR: await newDataDir(), LOG_LEVEL: 'warn' };
  const said = await startServer(settings).then(
    (server) => server.output(),
    ({ message }: Error) => message,
  );
  expect(said).not.toMatch(/^\s+at /m);
});

test('a process that is ready has connections open: the first calls wait for no new one', async () => {
  const own = await newDataDir();
  const empty = await createTestDatabase({ empty: true });
  const line = await startSwitch(empty.url);
  const server = await startServer({ DATABASE_URL: line.url, DATA_DIR: own });
  const staff = await signInAdministrator(server);
  // the jobs of the start use some of them
  await eventually(async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const due = [...metrics.matchAll(/^lanyard_job_due_timestamp_seconds.* (\S+)$/gm)];
    return due.length > 0 && due.every(([, at]) => Number(at) > Date.now() / 1000);
  });
  line.newOnes = 'silent';
  const answers = await Promise.all(Array.from({ length: 5 }, () => staff.call(customers.list)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});
