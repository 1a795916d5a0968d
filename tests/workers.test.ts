import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findPostmaster } from '../server/db/embedded-postmaster.ts';
import { makeApiKey, makeLicense, validateOn } from './factories.ts';
import { apiAt, createTestDatabase, eventually, numbers, patience } from './harness.ts';
import { newFolder } from './place.ts';
import {
  familyOf,
  isReady,
  newDataDir,
  runTool,
  signal,
  signInAdministrator,
  spawnServer,
  startServer,
} from './server-process.ts';
import { ask } from './work.ts';

/* The built server with two workers, on its embedded database. */

const dataDir = await newDataDir();
const server = await startServer({ DATA_DIR: dataDir, WORKERS: '2', LOG_LEVEL: 'warn' });
const staff = await signInAdministrator(server);
beforeAll(() => eventually(async () => (await metric('lanyard_processes')) === 2));

/** A connection that Node's primary hands to a worker at the moment of its death is never answered, nor closed. */
const giveUp = () => AbortSignal.timeout(patience(5000));

/** A status, on a new connection, which the primary assigns to the next worker. */
const get = (path: string, { url } = server) =>
  new Promise<number>((resolve, reject) => {
    const options = { agent: new Agent(), signal: giveUp() };
    const sent = request(url + path, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end();
  });

async function metric(name: string, { url } = server): Promise<number> {
  const fresh = { headers: { connection: 'close' }, signal: giveUp() };
  const text = await (await fetch(`${url}/metrics`, fresh)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'));
  expect(lines, name).toHaveLength(1);
  return Number(lines[0]!.split(' ').at(-1));
}

const answered = () =>
  metric('lanyard_http_request_duration_seconds_count{method="GET",route="/healthz",status="200"}');

/** The processes of the service, without PostgreSQL. */
const workers = (of = server) =>
  familyOf(of.process.pid!)
    .slice(1)
    .filter((pid) => commandOf(pid).includes('main.js'));

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // PostgreSQL's processes start and exit
    return '';
  }
}

test('locations.txt names the folder of the embedded database', () => {
  expect(readFileSync(join(dataDir, 'locations.txt'), 'utf8')).toContain(`database: ${dataDir}/postgres\n`);
});

test('two workers serve one port, and their metrics are one', async () => {
  expect(workers()).toHaveLength(2);
  await Promise.all(numbers(40).map(() => get('/healthz')));
  await eventually(async () => expect(await answered()).toBe(40));
  expect(await metric('lanyard_database_up')).toBe(1);
});

test('a file of the journal, which they share, counts once', async () => {
  await mkdir(join(dataDir, 'journal'), { recursive: true });
  const file = join(dataDir, 'journal', `waiting-${randomUUID()}.json`);
  await writeFile(file, '[]');
  await writeFile(`${file}.damaged`, '[');
  expect(await metric('lanyard_journal_bytes')).toBe(2);
  expect(await metric('lanyard_damaged_journal_files')).toBe(1);
});

test('a budget holds across them', async () => {
  const { licenseKey } = await makeLicense(staff);
  const passedIn = async () => {
    const hour = new Date().getUTCHours();
    const key = await makeApiKey(staff, { rateLimit: 20 });
    const statuses = await Promise.all(
      numbers(60).map(async () => {
        const headers = { ...key.headers, connection: 'close', 'content-type': 'application/json' };
        const body = JSON.stringify({ licenseKey, machineId: 'budget' });
        const url = `${server.url}/api/licenses/validate`;
        return (await fetch(url, { method: 'POST', headers, body })).status;
      }),
    );
    // the next hour has a budget of its own, and a busy machine may refuse 60 at once
    return new Date().getUTCHours() === hour && !statuses.includes(503) && statuses;
  };
  const statuses = await eventually(passedIn);
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
});

test('a worker that is killed is replaced, and counters go on', async () => {
  const before = await answered();
  const [victim] = workers();
  signal(victim!, 'SIGKILL');
  await eventually(() => !workers().includes(victim!));
  await eventually(async () => (await get('/healthz')) === 200);
  await eventually(async () => (await metric('lanyard_processes')) === 2);
  expect(workers()).toHaveLength(2);
  expect(await answered()).toBeGreaterThanOrEqual(before + 1);
  expect(server.output()).toContain('A worker ended and is replaced');
});

test('a worker that keeps ending is started again after ever longer pauses', async () => {
  const pauses = () => [...server.output().matchAll(/"pauseMs":(\d+)/g)].map((match) => Number(match[1]));
  const known = new Set(workers());
  const before = pauses().length;
  for (const ended of [1, 2, 3]) {
    // the newest, which cannot have run for long
    const victim = ended === 1 ? workers()[0]! : await eventually(newcomer);
    known.add(victim);
    signal(victim, 'SIGKILL');
    await eventually(() => pauses().length === before + ended);
  }
  const [first, second, third] = pauses().slice(before) as [number, number, number];
  expect([second > first, third]).toEqual([true, 2 * second]);
  await eventually(async () => (await metric('lanyard_processes')) === 2);

  function newcomer(): number | false {
    return workers().find((pid) => !known.has(pid)) ?? false;
  }
});

test('workers on one data directory follow a rotation of the signing key', async () => {
  const { code, said } = await runTool('keys', { DATA_DIR: dataDir }, 'rotate');
  expect([code, said]).toEqual([0, expect.stringContaining('signs from now on')]);
  const keyId = /key (\w+) signs/.exec(said)![1]!;
  const current = async () => {
    const answer = await fetch(`${server.url}/api/v1/keys`, { headers: { connection: 'close' } });
    return ((await answer.json()) as { data: { keyId: string }[] }).data[0]!.keyId;
  };
  await eventually(async () => {
    expect(new Set(await Promise.all(numbers(8).map(current)))).toEqual(new Set([keyId]));
  });
});

test('SIGTERM ends all of them, what they recorded is written, and PostgreSQL stops', async () => {
  const license = await makeLicense(staff);
  const desktop = apiAt(server.url, await makeApiKey(staff));
  await Promise.all(numbers(20).map((i) => validateOn(desktop, license, i % 2 ? 'one' : 'other')));
  const all = workers();
  expect(await server.end('SIGTERM')).toBe(0);
  for (const pid of all) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await findPostmaster(join(dataDir, 'postgres'))).toBeUndefined();
  expect(await isReady(server.url)).toBe(false);
});

test('a failed start is reported once', async () => {
  const settings = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', DATA_DIR: dataDir, WORKERS: '2' };
  const failing = spawnServer(settings);
  expect(await failing.ended).toBe(1);
  expect(failing.output().match(/cannot be reached/g)).toHaveLength(1);
});

test('a start that waits for the embedded database says so', async () => {
  await server.end('SIGTERM');
  // PostgreSQL does not start beside it
  await mkdir(join(dataDir, 'postgres', 'postmaster.pid'));
  const waiting = spawnServer({ DATA_DIR: dataDir, WORKERS: '2' });
  await eventually(() => waiting.output().includes(`Still waiting for the database of ${dataDir} (`));
  expect(await waiting.end('SIGTERM')).toBe(0);
});

test('while no worker can be forked, the others serve, and it is tried again', async () => {
  const node = join(await newFolder(), 'node');
  await copyFile(process.execPath, node);
  const { url } = await createTestDatabase();
  const settings = { DATABASE_URL: url, DATA_DIR: await newDataDir(), WORKERS: '2', LOG_LEVEL: 'warn' };
  const own = await startServer(settings, { node });
  const areTwo = async () => (await metric('lanyard_processes', own)) === 2;
  await eventually(areTwo);
  // the call fails as where the service may have no more processes
  await rename(node, `${node}.away`);
  signal(workers(own)[0]!, 'SIGKILL');
  await eventually(() => own.output().split('A worker cannot be started').length > 3);
  expect(await get('/healthz', own)).toBe(200);
  await rename(`${node}.away`, node);
  await eventually(areTwo);
  await own.end('SIGTERM');
});

test('workers whose primary was killed answer the calls under way, and write what they recorded', async () => {
  const database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url, DATA_DIR: await newDataDir(), WORKERS: '2' };
  const own = await startServer({ ...settings, LOG_LEVEL: 'warn' });
  const administrator = await signInAdministrator(own);
  const { licenseKey } = await makeLicense(administrator);
  const { headers } = await makeApiKey(administrator);
  const body = JSON.stringify({ licenseKey, machineId: 'under way' });
  const sent = request(`${own.url}/api/licenses/validate`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  const answer = new Promise<unknown>((resolve) => {
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', resolve);
  });
  // a worker has it
  await new Promise((resolve) => sent.on('continue', resolve).flushHeaders());
  own.process.kill('SIGKILL');
  await once(own.process, 'exit');
  sent.end(body);
  expect(await answer).toBe(200);
  // when the last worker has closed the output, too
  await own.ended;
  expect(await ask(database.url, 'select from validations')).toHaveLength(1);
});
