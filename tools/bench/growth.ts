import { createHash } from 'node:crypto';
import { newLicenseKey } from '../../server/features/licenses/license-key.ts';
import { migrate } from '../../server/db/migrate.ts';
import { withClient } from '../../server/db/with-client.ts';
import { fillDatabase, sampleOf, type Sample } from './dataset.ts';
import { fillHistory } from './history-dataset.ts';
import { period } from './history.ts';
import { searches, validations } from './licensing.ts';
import { GivenUp, oneByOne, type Target } from './load.ts';
import { dataOf, type Stage } from './stage.ts';
import { fillUpdates, updateSizes, watchedRelease } from './updates-dataset.ts';
import { updateChecks } from './updates.ts';

/** What the smaller database holds, with a million update events, validations and audit entries together. */
const small = { customers: 500, licenses: 10_000, activations: 30_000, updates: 0.03, history: 0.028 };
/** How many times as much the larger one holds. */
const factor = 10;
const mostGrowth = 1.5;
const rounds = 2;

type Size = typeof small;
type Point = { p50: number; p99: number; buffers: number };
export type Growth = { job: string; from: Point; to: Point; isFlat: boolean };

type Parts = {
  /** Of a superuser, who creates the databases and reads what they did. */
  superuser: string;
  /** Of the role that serves requests, with the name of the database as its path. */
  url: string;
  scale: number;
  seconds: number;
  /** Starts a server on a database, and returns what signs in at it. */
  open: (databaseUrl: string, name: string) => Promise<(sample: Sample) => Promise<Stage>>;
};

/**
 * The main calls of one user on two databases, one ten times as large, in turn: milliseconds, and pages of PostgreSQL
 * for each call, with those of the records written behind it.
 */
export async function* benchGrowth({ superuser, url, scale, seconds, open }: Parts): AsyncGenerator<Growth> {
  await withClient(superuser, (client) => client.query('create extension if not exists pg_stat_statements'));
  const databases = [];
  for (const [name, times] of [
    ['growth_small', scale],
    ['growth_large', scale * factor],
  ] as const) {
    const size = multiplied(small, times);
    process.stdout.write(`${name}: ${JSON.stringify(size)}\n`);
    const address = new URL(url);
    address.pathname = name;
    const filled = await commentOf(superuser, name);
    if (filled === undefined) {
      await withClient(url, (client) => client.query(`create database ${name}`));
      await migrate(address.href);
    }
    // filled after its start, which creates the partitions
    const signIn = await open(address.href, name);
    if (filled !== JSON.stringify(size)) {
      await fill(address.href, size);
      await withClient(url, (client) =>
        client.query(`comment on database ${name} is '${JSON.stringify(size)}'`),
      );
    }
    const sample = await sampleOf(address.href);
    databases.push({
      calls: async () => callsOf(await signIn(sample), size),
      buffers: () => buffersOf(superuser, name),
    });
  }
  for (const job of Object.keys(await databases[0]!.calls())) {
    // signed in for each, since a session ends after a quarter of an hour
    const measured = await Promise.all(
      databases.map(async ({ calls, buffers }) => ({
        target: (await calls())[job]!,
        buffers,
        points: [] as Point[],
      })),
    );
    for (const { target, buffers } of measured) await pointOf(target, seconds / 2, buffers);
    for (let round = 0; round < rounds; round++)
      for (const { target, buffers, points } of measured)
        points.push(await pointOf(target, seconds, buffers));
    const [from, to] = measured.map(({ points }) => bestOf(points)) as [Point, Point];
    yield { job, from, to, isFlat: to.p50 <= mostGrowth * from.p50 };
  }
}

const multiplied = (size: Size, times: number) =>
  Object.fromEntries(Object.entries(size).map(([name, n]) => [name, n * times])) as Size;

/** Another load of the machine only adds time. */
const bestOf = (points: Point[]): Point => points.toSorted((a, b) => a.p50 - b.p50)[0]!;

async function pointOf(target: Target, seconds: number, buffers: () => Promise<number>): Promise<Point> {
  const before = await buffers();
  try {
    const { p50, p99, calls } = await oneByOne(target, seconds);
    return { p50, p99, buffers: ((await buffers()) - before) / calls };
  } catch (error) {
    if (error instanceof GivenUp) return { p50: Infinity, p99: Infinity, buffers: Infinity };
    throw error;
  }
}

/** Pages that the statements of a database have read, from memory or from files. */
const buffersOf = (superuser: string, name: string): Promise<number> =>
  withClient(superuser, async (client) => {
    const { rows } = await client.query<{ pages: string }>(
      `select sum(shared_blks_hit + shared_blks_read) as pages
         from pg_stat_statements s join pg_database d on d.oid = s.dbid where datname = $1`,
      [name],
    );
    return Number(rows[0]!.pages);
  });

/** What a database of an earlier run was filled with: empty if that run did not end, undefined if there is none. */
const commentOf = (superuser: string, name: string): Promise<string | undefined> =>
  withClient(superuser, async (client) => {
    const { rows } = await client.query<{ size: string }>(
      "select coalesce(shobj_description(oid, 'pg_database'), '') as size from pg_database where datname = $1",
      [name],
    );
    return rows[0]?.size;
  });

async function fill(url: string, size: Size): Promise<void> {
  await fillDatabase(url, () => newLicenseKey('enterprise'), size);
  await fillUpdates(url, size.updates);
  await fillHistory(url, size.history, size.licenses);
}

async function callsOf(stage: Stage, size: Size): Promise<Record<string, Target>> {
  const { ours, staff: headers, sample } = stage;
  // not the number of the call in its round: what is kept of an earlier round must not answer
  let calls = 0;
  const get = (path: (n: number) => string): Target => ({
    url: ours,
    headers,
    next: () => ({ path: path(calls++) }),
  });
  const pick = (n: number) => sample[(n * 7919) % sample.length]!;
  const customers = await dataOf<{ customerId: string }[]>(`${ours}/api/customers?limit=500`, headers);
  const customer = (n: number) => `/api/v1/customers/${customers[n % customers.length]!.customerId}`;
  const machines = Math.round(updateSizes.machines * size.updates);
  const machine = (n: number) =>
    `/api/v1/machines/${createHash('sha256')
      .update(`bench-${1 + (n % machines)}`)
      .digest('hex')}`;
  const release = `/api/v1/updates/admin/releases/${await watchedRelease(stage)}`;
  const checks = updateChecks(stage, size.updates);
  return {
    'validate, known machine': validations(stage).byApiKey,
    'update check': checks.byMachineId,
    'create a customer': {
      url: `${ours}/api/customers`,
      method: 'POST',
      headers,
      next: (n) => ({ body: { name: `Growth ${n}`, country: 'DE' } }),
    },
    'license list': get(() => '/api/v1/licenses?tab=active&limit=50'),
    'licenses not seen for 30 days': get(() => '/api/v1/licenses?tab=active&limit=50&unseenForDays=30'),
    'license search, part of a key': get(
      (n) => `/api/v1/licenses?tab=active&limit=50&search=${pick(n).licenseKey.slice(0, 16)}`,
    ),
    'license search, words of many': get((n) => `/api/v1/licenses?tab=active&limit=50&search=${searches(n)}`),
    'customer list': get(() => '/api/customers?limit=50'),
    'customer page': get((n) => `${customer(n)}/overview`),
    'customer page, machines': get((n) => `${customer(n)}/machines`),
    'customer page, timeline': get((n) => `${customer(n)}/timeline`),
    'machine list': get(() => '/api/v1/machines'),
    'machines seen in 24 hours': get(() => '/api/v1/machines?seenWithinDays=1'),
    'machines not seen for 30 days': get(() => '/api/v1/machines?unseenForDays=30'),
    'machines that are active': get(() => '/api/v1/machines?state=active'),
    'machines that are refused': get(() => '/api/v1/machines?state=refused'),
    'machines without a seat': get(() => '/api/v1/machines?state=no_seat'),
    'machines that are clones': get(() => '/api/v1/machines?state=clone'),
    'refused machines of a customer': get(
      (n) => `/api/v1/machines?state=refused&customerId=${customer(n).split('/').at(-1)}`,
    ),
    'machines of a customer': get((n) => `/api/v1/machines?customerId=${customer(n).split('/').at(-1)}`),
    'machine search, part of an id': get((n) => `/api/v1/machines?search=${pick(n).machineId.slice(2, 14)}`),
    'machine page': get(machine),
    'machine page, timeline': get((n) => `${machine(n)}/timeline`),
    'release list': get(() => '/api/v1/updates/admin/releases?showInactive=false'),
    'release page': get(() => `${release}/progress`),
    'analytics of releases': get(() => '/api/v1/updates/admin/analytics'),
    'audit log': get(() => '/api/audit?limit=50'),
    'audit log, text search': get((n) => `/api/audit?limit=50&search=staff${n % 40}%40example.org`),
    'analytics, health': get(() => '/api/analytics/health'),
    'analytics, trends': get((n) => `/api/analytics/trends?${period(n)}`),
    'analytics, customers': get((n) => `/api/analytics/customers?${period(n)}`),
    today: get(() => '/api/v1/today'),
  };
}
