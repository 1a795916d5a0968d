import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import assert from 'node:assert/strict';
import { contract } from '../../contract/index.ts';
import type { Route } from '../../contract/route.ts';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { session } from '../../contract/session.ts';
import { validation } from '../../contract/validation.ts';
import { startEmbedded } from '../../server/db/embedded.ts';
import { makeApiKey, makeLicense } from '../../tests/factories.ts';
import { apiAt } from '../../tests/harness.ts';
import { startNginx } from '../../tests/nginx.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { administrator, copyKeys, freePort, newDataDir, startServer } from '../../tests/server-process.ts';
import { ask } from '../../tests/work.ts';
import { addResult } from './table.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const gitArgs = (args: string[]) => ['-c', 'safe.directory=*', '-C', root, ...args];

/** Duration of each phase: before the migration, with both versions, with the new one alone. */
const phaseMs = 5000;

/** The newest tag before this commit, the version to upgrade from; undefined if there is none. */
export const earlierTag = findTag();

function findTag(): string | undefined {
  try {
    const args = gitArgs(['describe', '--tags', '--abbrev=0', 'HEAD^']);
    return execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

/** Checks out the tag in its own folder, and builds it. */
async function buildTag(tag: string, folder: string): Promise<string> {
  const checkout = join(folder, 'earlier');
  await run('git', gitArgs(['worktree', 'add', '--detach', checkout, tag]));
  const lockOf = (at: string) => readFile(join(at, 'package-lock.json'), 'utf8');
  const options = { cwd: checkout, maxBuffer: 64 * 1024 * 1024 };
  if ((await lockOf(checkout)) === (await lockOf(root)))
    await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  else await run('npm', ['ci', '--include=dev', '--include=optional'], options);
  await run(process.execPath, ['tools/prepare.mjs', 'build'], options);
  return checkout;
}

/**
 * The last version serves behind nginx under load, on a database with demo data. This version starts and migrates; both
 * serve; the last one is drained. No call may fail.
 */
export async function upgrade(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lanyard-upgrade-'));
  const dataDirs = [await newDataDir(), await newDataDir(), await newDataDir()] as const;
  try {
    const checkout = await buildTag(earlierTag!, folder);
    const { url: DATABASE_URL } = await startEmbedded(dataDirs[0], {
      exclusive: false,
      log: () => undefined,
    });
    const ports = [await freePort(), await freePort()] as const;
    const start = async (index: 0 | 1, from?: string) => {
      const DATA_DIR = dataDirs[index + 1]!;
      const settings = {
        DATABASE_URL,
        DATA_DIR,
        PORT: String(ports[index]),
        TRUST_PROXY: 'loopback',
        LOG_LEVEL: 'warn',
      };
      return startServer(settings, { checkout: from });
    };
    const old = await start(0, checkout);
    const demo = [join(checkout, 'dist/tools/demo.js'), '--customers', '50', '--machines', '500'];
    await run(process.execPath, demo, { env: { ...process.env, DATABASE_URL, DATA_DIR: dataDirs[1] } });
    await copyKeys(dataDirs[1], dataDirs[2]);

    const nginx = await startNginx(ports);
    const before = await migrationsOf(DATABASE_URL);
    const load = startLoad(await callsOf(nginx.url));
    await sleep(phaseMs);
    load.phase('the start of this version');
    const fresh = await start(1);
    const migrated = (await migrationsOf(DATABASE_URL)) - before;
    load.phase('both were ready');
    await sleep(phaseMs);
    load.phase('SIGTERM to the earlier version');
    const code = await old.end('SIGTERM');
    load.phase('the earlier version exited');
    await sleep(phaseMs);
    await load.stop();
    const { answered, refused, failed } = counted(load.seen);
    const kinds = new Set(load.seen.map(({ call }) => call)).size;
    const description = `from ${earlierTag} behind nginx, ${migrated} migrations; ${kinds} kinds of calls`;
    const gapMs = longestGap(load.seen);
    addResult({ scenario: 'upgrade', description, answered, refused, failed, gapMs, lost: [] });
    const trouble = load.seen.map((one) => one.trouble).filter(Boolean);
    const said = [await nginx.errors(), old.output(), fresh.output()].map((text) => text.slice(-4000));
    assert.deepEqual([trouble, code], [[], 0], said.join('\n'));
  } finally {
    await run('git', gitArgs(['worktree', 'remove', '--force', join(folder, 'earlier')])).catch(
      () => undefined,
    );
    await rm(folder, { recursive: true, force: true });
  }
}

const migrationsOf = async (databaseUrl: string): Promise<number> =>
  (await ask(databaseUrl, 'select from schema_migrations')).length;

type Calls = Parameters<typeof startLoad>[0];

/** The most frequent changes by staff and machines, and every list that the earlier version has. */
async function callsOf(url: string): Promise<Calls> {
  const login = () => apiAt(url).call(session.login, { body: administrator });
  const { accessToken } = (await login()).body.data;
  const headers = { authorization: `Bearer ${accessToken}` };
  const staff = apiAt(url, { headers });
  const { licenseKey, customerId } = await makeLicense(staff, { maxActivations: 100_000 });
  const desktop = apiAt(url, await makeApiKey(staff, { scopes: ['validate'] }));
  const validate = (machineId: string) =>
    desktop.call(validation.validate, { body: { licenseKey, machineId } });
  let machines = 0;
  const changes: Calls = {
    'POST validate': () => validate('known'),
    'POST validate a new machine': () => validate(`machine ${machines++}`),
    'POST login': login,
    'POST customers': () => staff.call(customers.create, { body: { name: 'Upgrade', country: 'DE' } }),
    'POST licenses': () => staff.call(licenses.create, { body: { ...anyLicense, customerId } }),
  };
  const reads = await readsOf((path) => fetch(url + path, { headers }));
  // one change after each read
  const mixed = Object.entries(reads).flatMap(([name, read], index) => {
    const [change, make] = Object.entries(changes)[index % Object.keys(changes).length]!;
    return [[name, read] as const, [`${change} (${index})`, make] as const];
  });
  return Object.fromEntries(mixed);
}

const anyLicense = {
  type: 'enterprise' as const,
  validFrom: '2026-01-01T00:00:00Z',
  validUntil: '2036-01-01T00:00:00Z',
  maxActivations: 2,
  moduleIds: ['mod_lung_nodule'],
};

/** Every GET without path parameters, except CSV and the verification of the audit log. */
async function readsOf(get: (path: string) => Promise<Response>): Promise<Calls> {
  const routes: Route[] = Object.values(contract).flatMap((feature) => Object.values(feature) as Route[]);
  const reads: Calls = {};
  for (const { method, path, csv } of routes) {
    if (method !== 'GET' || csv || /\{|verify/.test(path)) continue;
    const read = async () => {
      const response = await get(path);
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    if ((await read()).status < 300) reads[`GET ${path}`] = read;
  }
  return reads;
}
