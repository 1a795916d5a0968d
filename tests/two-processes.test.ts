import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { analytics } from '../contract/analytics.ts';
import { audit } from '../contract/audit.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn } from './factories.ts';
import {
  apiAt,
  createTestDatabase,
  days,
  eventually,
  numbers,
  openClient,
  patience,
  type Api,
} from './harness.ts';
import { newDataDir, signInAdministrator, startTwo } from './server-process.ts';

/* Two built servers on one database, each with its own data directory and the same keys. */

/** docs/operating.md: the figures are at most half a minute old. Plus a second to record. */
const figuresWithinMs = 31_000;
const dayIn = (n: number) => new Date(Date.now() + days(n)).toISOString().slice(0, 10);

const database = await createTestDatabase();
const servers = await startTwo(
  (DATA_DIR) => ({ DATABASE_URL: database.url, DATA_DIR, LOG_LEVEL: 'warn' }),
  [await newDataDir(), await newDataDir()],
);
const staff = await Promise.all(servers.map(signInAdministrator));

test('validations of each process appear in the figures of both', async () => {
  const license = await makeLicense(staff[0]!, { maxActivations: 10 });
  const key = await makeApiKey(staff[0]!);
  const desktops = servers.map(({ url }) => apiAt(url, key));
  // The seats are taken first: a change of licenses invalidates the figures, which would hide ones that are never
  // refreshed.
  await validateOn(desktops[0]!, license, 'first');
  await validateOn(desktops[1]!, license, 'second');
  const counted = async (api: Api) => {
    // a day more on both sides: the test may run over midnight
    const query = { startDate: dayIn(-1), endDate: dayIn(1) };
    const { codes } = await api.ok(analytics.trends, { query });
    return codes.reduce((sum, { count }) => sum + count, 0);
  };
  await Promise.all(staff.map(counted));

  await Promise.all(
    numbers(40).flatMap(() => [
      validateOn(desktops[0]!, license, 'first'),
      validateOn(desktops[1]!, license, 'second'),
    ]),
  );
  const from = performance.now();
  for (const api of staff)
    await eventually(async () => expect(await counted(api)).toBe(82), patience(figuresWithinMs) + 10_000);
  expect(performance.now() - from).toBeLessThan(patience(figuresWithinMs));

  const health = await Promise.all(staff.map((api) => api.ok(analytics.health)));
  for (const { totalActivations, errorRate } of health) expect([totalActivations, errorRate]).toEqual([2, 0]);
});

test('both seal the audit log concurrently, and one alone continues when the other is killed; the chain stays intact', async () => {
  const isWhole = (api: Api) =>
    eventually(async () => {
      const verdict = await api.ok(audit.verify);
      expect(verdict).toMatchObject({ whole: true, unsealedEntries: 0 });
      return verdict.checkedEntries;
    });
  const client = await openClient(database.url);
  // Entries accumulate until the seals are released, so that both processes seal the same ones concurrently.
  await client.query('begin');
  await client.query('lock table audit_seals in exclusive mode');
  await Promise.all(
    staff.flatMap((api) =>
      numbers(4).map(async () => {
        for (let i = 0; i < 15; i++) await makeCustomer(api);
      }),
    ),
  );
  await sleep(700);
  await client.query('commit');
  const [one, other] = await Promise.all(staff.map(isWhole));
  expect(one).toBe(other);
  expect(one).toBeGreaterThanOrEqual(120);

  let stopped = false;
  const writeOn = async (api: Api) => {
    let written = 0;
    while (!stopped)
      if (await makeCustomer(api).then(Boolean, () => false)) written++;
      else await sleep(20);
    return written;
  };
  const writing = staff.map(writeOn);
  await sleep(500);
  await servers[1].end('SIGKILL');
  await sleep(500);
  stopped = true;
  const written = (await Promise.all(writing)).reduce((sum, n) => sum + n);
  expect(await isWhole(staff[0]!)).toBeGreaterThanOrEqual(one! + written);
  const { rows } = await client.query<{ gaps: number; twice: number }>(
    `select max(sequence) - min(sequence) + 1 - count(*) as gaps, count(*) - count(distinct audit_id) as twice
       from audit_seals`,
  );
  expect(rows).toEqual([{ gaps: 0, twice: 0 }]);
});
