import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, describe, expect, test } from 'vitest';
import { analytics } from '../contract/analytics.ts';
import { apiKeys } from '../contract/api-keys.ts';
import { audit } from '../contract/audit.ts';
import { customers } from '../contract/customers.ts';
import { session } from '../contract/session.ts';
import { updateEvents } from '../contract/update-events.ts';
import { updates } from '../contract/updates.ts';
import { validation } from '../contract/validation.ts';
import { everyday } from '../server/db/limits.ts';
import { makeApiKey, makeLicense, makeRelease, unique, validateOn } from './factories.ts';
import { counted, startLoad, type Answered, type Seen } from './load.ts';
import {
  createTestDatabase,
  eventually,
  password,
  startTestServer,
  patience,
  patiently,
  startTwin,
  within,
  type Identity,
  type TestServer,
} from './harness.ts';
import { startSwitch } from './tcp-switch.ts';
import { newFolder } from './place.ts';

/* Two servers whose connections to PostgreSQL pass through a switch that interrupts them. */

/** The maximum duration of a call: waiting for a lock that a lost transaction still holds. */
const longestMs = 10_000;
/** Twice the documented limit. */
const withinMs = 10_000;

const database = await createTestDatabase();
const line = await startSwitch(database.url);
const config = {
  storage: { kind: 'disk' as const, folder: await newFolder() },
  databaseLimitFactor: 1,
};
const through = { database: { ...database, url: line.url }, config };
const first = await startTestServer(through);
const second = await startTwin(first, through);
const servers = [first, second];
const staff = await eventually(() => first.signInAs('super_admin'));
const firstPatiently = (who: Identity) => patiently(first.api(who));
const desktopKey = await makeApiKey(firstPatiently(staff), { scopes: ['validate', 'updates'] });
const { licenseKey } = await makeLicense(firstPatiently(staff), { maxActivations: 100_000 });
await eventually(() => makeRelease(first));
await validateOn(firstPatiently(desktopKey), licenseKey, 'known machine');
afterEach(() => {
  line.newOnes = 'forward';
});

/** Every kind of call: reads and changes, by machines and by users, cached and not. */
function kindsOfCalls(server: TestServer): Record<string, () => Promise<Answered>> {
  const [desktop, person] = [server.api(desktopKey), server.api(staff)];
  return {
    'validation of a known machine': () =>
      desktop.call(validation.validate, { body: { licenseKey, machineId: 'known machine' } }),
    'validation of a new machine': () =>
      desktop.call(validation.validate, { body: { licenseKey, machineId: unique('machine') } }),
    feed: () =>
      desktop.call(updates.electron, {
        params: { platform: 'win32', architecture: 'x64', file: 'latest.yml' },
        query: { machineId: 'known machine' },
      }),
    'report of events': () =>
      desktop.call(updateEvents.report, {
        body: { events: [{ eventId: uuidv7(), machineId: 'known machine', eventType: 'check' }] },
      }),
    list: () => person.call(customers.list, { query: { limit: '5' } }),
    change: () => person.call(customers.create, { body: { name: unique('Clinic'), country: 'DE' } }),
    file: () => person.call(customers.exportCsv),
    figures: () => person.call(analytics.health),
    'audit log': () => person.call(audit.list),
    'who am I': () => person.call(session.me),
    'sign-in': () => server.api().call(session.login, { body: { email: staff.email, password } }),
    readiness: () => fetch(`${server.url}/readyz`),
  };
}

/** Makes every kind of call on both servers continuously while `work` runs. */
async function underLoad(work: (seen: Seen[]) => Promise<void>): Promise<Seen[]> {
  const calls = servers.flatMap((server, at) =>
    Object.entries(kindsOfCalls(server)).map(([kind, make]) => [`${kind} at ${at}`, make] as const),
  );
  const load = startLoad(Object.fromEntries(calls), { lanes: 2 * calls.length, pauseMs: 50 });
  try {
    await eventually(() => load.seen.length > 100);
    await work(load.seen);
  } finally {
    await load.stop();
  }
  return load.seen;
}

const allWork = (): Promise<unknown> =>
  Promise.all(
    servers.flatMap((server) =>
      Object.entries(kindsOfCalls(server)).map(async ([kind, make]) => {
        const { status, text } = await make();
        if (status >= 300)
          throw new Error(`${kind}: ${status} ${typeof text === 'string' ? text : await text?.()}`);
      }),
    ),
  );

/** Asserts only successes and 503 with Retry-After, and no call that hangs. */
function expectOnlyBriefRefusals(seen: Seen[]): void {
  const { refused, failed } = counted(seen);
  // a file that has begun cannot become a 503
  expect(failed.filter((one) => !/^file at \d: \S+ \S+ got no whole answer: terminated/.test(one))).toEqual(
    [],
  );
  expect(refused).toBeGreaterThan(0);
  const slow = seen
    .filter(({ from, to }) => to - from > patience(longestMs))
    .map(({ call, from, to }) => [call, to - from]);
  expect(slow).toEqual([]);
}

describe('connections that stop answering', () => {
  test('all of them, while new ones work: every kind of call succeeds again within 5 s, in both processes', async () => {
    let silent = 0;
    let wellAgain = 0;
    const all = await underLoad(async (seen) => {
      line.silence();
      silent = performance.now();
      await sleep(100);
      await eventually(allWork);
      wellAgain = performance.now();
      for (const call of new Set(seen.map((one) => one.call)))
        await eventually(() => seen.findLast((one) => one.call === call)!.trouble === undefined);
    });
    expectOnlyBriefRefusals(all);
    expect(wellAgain - silent).toBeLessThan(patience(withinMs));
  });

  test('all of them, and new ones are silent too: 503 at once, and /readyz says so until they work', async () => {
    const ready = () => Promise.all(servers.map(async ({ url }) => (await fetch(`${url}/readyz`)).status));
    const untilReady = () => eventually(async () => expect(await ready()).toEqual([200, 200]));
    await untilReady();
    const seen = await underLoad(async () => {
      line.newOnes = 'silent';
      line.silence();
      await eventually(async () => expect(await ready()).toEqual([503, 503]));
      await sleep(1500);
      expect(await ready()).toEqual([503, 503]);
      line.newOnes = 'forward';
      await eventually(allWork);
      await untilReady();
    });
    expectOnlyBriefRefusals(seen);
  });

  test('those of validations alone: they succeed again within 5 s', async () => {
    const desktop = servers[0]!.api(desktopKey);
    await eventually(() => validateOn(desktop, licenseKey, 'known machine'));
    // again from the silence on: once one succeeds, so do all that follow
    await within(withinMs, async () => {
      line.silence((said) => said.includes('validation-find'));
      await eventually(() => validateOn(desktop, licenseKey, 'known machine'));
      for (let i = 0; i < 20; i++) await validateOn(desktop, licenseKey, 'known machine');
    });
  });

  test('those of everyday calls alone: no call hangs, and they succeed again within 5 s', async () => {
    await eventually(allWork);
    const list = () => servers[0]!.api(staff).call(customers.list);
    // two seconds in practice, so nothing waits for the statement timeout
    await within(everyday.statementMs, async () => {
      await Promise.all(Array.from({ length: 6 }, list));
      line.silence((said) => said.includes('statement_timeout = 10000'));
      await Promise.all(Array.from({ length: 12 }, list));
      await eventually(async () => expect((await list()).status).toBe(200));
    });
  });

  test('a statement that takes long is no silence', async () => {
    await eventually(allWork);
    await eventually(() => servers[0]!.pool.query('select pg_sleep(4)'));
  });

  test('what was recorded behind the answers is kept and written when the database is back', async () => {
    const desktop = servers[0]!.api(desktopKey);
    const machineId = unique('recorded');
    const validate = () => desktop.call(validation.validate, { body: { licenseKey, machineId } });
    await eventually(async () => expect((await validate()).status).toBe(200));
    const answers = await Promise.all(Array.from({ length: 20 }, validate));
    const answered = 1 + answers.filter(({ status }) => status === 200).length;
    line.newOnes = 'silent';
    line.silence();
    await sleep(1500);
    line.newOnes = 'forward';
    await eventually(async () => {
      const { rows } = await servers[0]!.pool.query(
        'select count(*)::int as n from validations where machine_id = $1',
        [machineId],
      );
      expect(rows).toEqual([{ n: answered }]);
    });
  });

  test('that listen for changes: what one process changes is seen by the other again', async () => {
    // each may be back before the other is gone
    const losses = servers.map(({ context }) =>
      expect(context.signals.untilDown(() => new Promise(() => {}))).rejects.toThrow('does not answer'),
    );
    line.silence((said) => said.includes('listen lanyard'));
    await Promise.all(losses);
    await eventually(allWork);
    const made = await makeApiKey(firstPatiently(staff), { scopes: ['validate'] });
    await validateOn(patiently(second.api(made)), licenseKey, 'known machine');
    await firstPatiently(staff).ok(apiKeys.revoke, { params: { keyId: made.id } });
    await eventually(async () => {
      const { status } = await second
        .api(made)
        .call(validation.validate, { body: { licenseKey, machineId: 'known machine' } });
      expect(status).toBe(401);
    });
  });

  test('in the middle of a cursor: the pool gets its places back', async () => {
    const { context } = servers[0]!;
    for (let round = 0; round < 5; round++) {
      const rows = context.reports.selectNoFrom(sql<number>`generate_series(1, 1000)`.as('n')).stream(10);
      await expect(
        (async () => {
          for await (const { n } of rows) if (n === 1) line.silence();
        })(),
      ).rejects.toThrow();
      await eventually(() => servers[0]!.api(staff).ok(analytics.health));
    }
  });
});

test('calls wait for new connections that take more than a second to open, as on a busy machine', async () => {
  // a busy machine may lose the database meanwhile
  await eventually(async () => {
    line.newOnes = 'forward';
    await eventually(allWork);
    line.newOnes = 'slow';
    line.reset((said) => !said.includes('listen lanyard'));
    // By its answer, the server has read the resets too: a call before would be sent on a connection that is gone.
    await fetch(`${servers[0]!.url}/healthz`);
    const person = servers[0]!.api(staff);
    const desktop = servers[0]!.api(desktopKey);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => [
        person.call(customers.list),
        desktop.call(validation.validate, { body: { licenseKey, machineId: 'known machine' } }),
      ]).flat(),
    );
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([200]);
  });
});

test('connections that are reset are replaced at once', async () => {
  line.reset();
  await eventually(allWork);
});
