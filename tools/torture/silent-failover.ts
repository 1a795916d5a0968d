import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, chmod, chown, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { audit } from '../../contract/audit.ts';
import { customers } from '../../contract/customers.ts';
import { validation } from '../../contract/validation.ts';
import { unprivilegedAccount } from '../../server/db/embedded-account.ts';
import { makeApiKey, makeLicense } from '../../tests/factories.ts';
import { apiAt, eventually } from '../../tests/harness.ts';
import {
  freePort,
  isReady,
  newDataDir,
  signInAdministrator,
  startServer,
  type ServerProcess,
} from '../../tests/server-process.ts';
import { startSwitch } from '../../tests/tcp-switch.ts';

const bin = '/usr/lib/postgresql/15/bin';
const silentMs = 60_000;
/** The promise is 5 s; what a busy machine may need on top. */
const withinMs = 10_000;
const run = promisify(execFile);

type Cluster = { url: string; folder: string; as: (program: string, ...args: string[]) => Promise<unknown> };

/** A primary and a replica that has every commit before it is acknowledged. */
async function startPair(folder: string): Promise<{ primary: Cluster; replica: Cluster }> {
  const account = await unprivilegedAccount();
  if (account) await chown(folder, account.uid, account.gid);
  const as = (program: string, ...args: string[]) =>
    run(join(bin, program), args, { ...account, cwd: '/', env: { LC_ALL: 'C' } });
  const cluster = async (name: string): Promise<Cluster & { port: number }> => {
    const port = await freePort();
    return { folder: join(folder, name), port, url: `postgres://lanyard@127.0.0.1:${port}/lanyard`, as };
  };
  const settings = (port: number, standby: string) => `
port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
synchronous_standby_names = '${standby}'
`;
  const start = ({ folder: data }: Cluster) =>
    as('pg_ctl', 'start', '-w', '-D', data, '-l', `${data}.log`, '-o', '-c logging_collector=off');

  const primary = await cluster('primary');
  await as('initdb', '-D', primary.folder, '-U', 'lanyard', '--auth=trust', '-E', 'UTF8', '--no-sync');
  await appendFile(join(primary.folder, 'postgresql.conf'), settings(primary.port, ''));
  await start(primary);
  await as('createdb', '-h', '127.0.0.1', '-p', String(primary.port), '-U', 'lanyard', 'lanyard');
  const replica = await cluster('replica');
  const source = `host=127.0.0.1 port=${primary.port} user=lanyard`;
  await as('pg_basebackup', '-d', source, '-D', replica.folder, '-R', '-X', 'stream', '-c', 'fast');
  await appendFile(join(replica.folder, 'postgresql.conf'), settings(replica.port, ''));
  await start(replica);
  await appendFile(join(primary.folder, 'postgresql.conf'), settings(primary.port, '*'));
  await as('pg_ctl', 'reload', '-D', primary.folder);
  return { primary, replica };
}

/**
 * The primary falls silent under load for a minute, without a reset; then a replica answers at its address. Two server
 * processes must refuse at once meanwhile, serve everything within seconds after, and lose nothing acknowledged.
 */
export async function silentFailover(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lanyard-torture-'));
  await chmod(folder, 0o755);
  const { primary, replica } = await startPair(folder);
  const line = await startSwitch(primary.url);
  const dataDirs = [await newDataDir(), await newDataDir()];
  const servers: ServerProcess[] = [];
  try {
    for (const dataDir of dataDirs) {
      if (servers.length > 0)
        for (const name of ['signing-key.pem', 'secrets-key'])
          await copyFile(join(dataDirs[0]!, name), join(dataDir, name));
      servers.push(await startServer({ DATABASE_URL: line.url, DATA_DIR: dataDir, LOG_LEVEL: 'warn' }));
    }
    await failOver(servers, line, { primary, replica });
  } finally {
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    await line.close();
    for (const { as, folder: data } of [primary, replica])
      await as('pg_ctl', 'stop', '-m', 'immediate', '-D', data).catch(() => undefined);
    for (const one of [folder, ...dataDirs]) await rm(one, { recursive: true, force: true });
  }
}

async function failOver(
  servers: ServerProcess[],
  line: Awaited<ReturnType<typeof startSwitch>>,
  { primary, replica }: { primary: Cluster; replica: Cluster },
): Promise<void> {
  const staff = await Promise.all(servers.map(signInAdministrator));
  const { licenseKey } = await makeLicense(staff[0]!, { maxActivations: 100_000 });
  const key = await makeApiKey(staff[0]!);
  const made: string[] = [];
  let machines = 0;
  const calls = servers.flatMap((server, at) => {
    const desktop = apiAt(server.url, key);
    const validate = (machineId: string) =>
      desktop.call(validation.validate, { body: { licenseKey, machineId } });
    const create = async () => {
      const answer = await staff[at]!.call(customers.create, { body: { name: 'Clinic', country: 'DE' } });
      if (answer.status === 201) made.push(answer.body.data.customerId);
      return answer;
    };
    return [
      () => validate('known'),
      () => validate(`machine ${machines++}`),
      create,
      () => staff[at]!.call(customers.list, { query: { limit: '5' } }),
    ];
  });

  let going = true;
  let longestMs = 0;
  const statuses = new Map<number, number>();
  const callers = calls.flatMap((call) =>
    Array.from({ length: 4 }, async () => {
      while (going) {
        const from = performance.now();
        const { status, headers } = await call();
        longestMs = Math.max(longestMs, performance.now() - from);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 503) assert.ok(Number(headers.get('retry-after')) >= 1, '503 without Retry-After');
        await sleep(20);
      }
    }),
  );
  const ready = () => Promise.all(servers.map(({ url }) => isReady(url)));
  await sleep(3000);

  line.newOnes = 'silent';
  line.silence();
  await eventually(async () => assert.deepEqual(await ready(), [false, false]));
  for (const end = performance.now() + silentMs; performance.now() < end; await sleep(1000))
    assert.deepEqual(await ready(), [false, false]);
  await primary.as('pg_ctl', 'stop', '-m', 'immediate', '-D', primary.folder);
  await replica.as('pg_ctl', 'promote', '-w', '-D', replica.folder);
  line.pointTo(replica.url);
  line.newOnes = 'forward';

  const back = performance.now();
  await eventually(async () => {
    for (const { status } of await Promise.all(calls.map((call) => call()))) assert.ok(status < 300);
    assert.deepEqual(await ready(), [true, true]);
  }, withinMs);
  const recoveredMs = performance.now() - back;
  await sleep(3000);
  going = false;
  await Promise.all(callers);

  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![200, 201, 503].includes(status)),
    [],
  );
  assert.ok(longestMs < 15_000, `a call took ${longestMs} ms`);
  const { data } = (await staff[0]!.call(customers.list)).body;
  const stored = new Set(data.map(({ customerId }) => customerId));
  assert.deepEqual(
    made.filter((id) => !stored.has(id)),
    [],
    'customers that were acknowledged are lost',
  );
  await eventually(async () => {
    const verdict = await staff[1]!.ok(audit.verify);
    assert.ok(verdict.whole && verdict.unsealedEntries === 0, JSON.stringify(verdict));
  }, 20_000);
  const counts = JSON.stringify(Object.fromEntries(statuses));
  console.log(
    `silent for ${silentMs / 1000} s: all calls work again after ${Math.round(recoveredMs)} ms, the longest took ${Math.round(longestMs)} ms, answers ${counts}`,
  );
}
