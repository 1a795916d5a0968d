import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { customers } from '../contract/customers.ts';
import { licenses } from '../contract/licenses.ts';
import { validation } from '../contract/validation.ts';
import { makeApiKey, makeCustomer, makeLicense, unique, validateOn } from './factories.ts';
import { eventually, openClient, patience, patiently, startTestServer, startTwin } from './harness.ts';

/* What a locked record may cost the calls that wait for it. */

const log: string[] = [];

const server = await startTestServer({
  config: { logLevel: 'warn', databaseLimitFactor: 1 },
  onLog: (line) => log.push(line),
});
const staff = server.api(await eventually(() => server.signInAs('super_admin')));
const staffPatiently = patiently(staff);
const desktop = server.api(await makeApiKey(staffPatiently));
const [locked, other] = await Promise.all([
  makeLicense(staffPatiently, { maxActivations: 1000 }),
  makeLicense(staffPatiently, { maxActivations: 1000 }),
]);
await validateOn(patiently(desktop), other, 'known');
const holder = await openClient(server.database.url);

/**
 * Runs `work` while another session holds the lock of the statement. Again if it fails: this server takes a database that
 * stands still for half a second for one that is down.
 */
const whileHeld = (statement: string, work: () => Promise<void>) =>
  eventually(async () => {
    await holder.query('begin');
    try {
      await holder.query(statement);
      await work();
    } finally {
      await holder.query('rollback');
    }
  });

/** Until a call waits for that lock. */
const untilWaiting = () =>
  eventually(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return (await server.pool.query(waiting)).rowCount !== 0;
  });

const holdLicense = () => `select 1 from licenses where license_key = '${locked.licenseKey}' for update`;

const newMachine = () =>
  desktop.call(validation.validate, {
    body: { licenseKey: locked.licenseKey, machineId: unique('machine') },
  });

type Asked = { status: number; retryAfter: string | null; ms: number };

async function timed(call: () => Promise<{ status: number; headers: Headers }>): Promise<Asked> {
  const from = performance.now();
  const { status, headers } = await call();
  return { status, retryAfter: headers.get('retry-after'), ms: performance.now() - from };
}

/** The results of 200 machines that request a seat on the locked license, while `meanwhile` runs. */
async function besideMachines(meanwhile: () => Promise<void>): Promise<Asked[]> {
  const asked = Promise.all(Array.from({ length: 200 }, () => timed(newMachine)));
  await untilWaiting();
  await meanwhile();
  return asked;
}

const all = (n: number, call: () => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: n }, async () => (await call()).status));

describe('a locked license and 200 machines that want a seat on it', () => {
  test('leave connections for reads, new customers, other licenses and /readyz', async () => {
    await whileHeld(holdLicense(), async () => {
      const asked = await besideMachines(async () => {
        const statuses = await Promise.all([
          all(12, () => staff.call(customers.list)),
          all(12, () => staff.call(customers.create, { body: { name: unique('Clinic'), country: 'DE' } })),
          all(12, () =>
            desktop.call(validation.validate, { body: { licenseKey: other.licenseKey, machineId: 'known' } }),
          ),
          all(12, () =>
            desktop.call(validation.validate, {
              body: { licenseKey: other.licenseKey, machineId: unique('other') },
            }),
          ),
          all(3, () => fetch(`${server.url}/readyz`)),
        ]);
        expect(statuses.map((list) => [...new Set(list)])).toEqual([[200], [201], [200], [200], [200]]);
      });
      expect([...new Set(asked.map(({ status }) => status))]).toEqual([503]);
      expect(asked.filter(({ retryAfter }) => !(Number(retryAfter) >= 1))).toEqual([]);
      expect(Math.max(...asked.map(({ ms }) => ms))).toBeLessThan(patience(15_000));
    });
    await eventually(async () => expect((await newMachine()).status).toBe(200));
  });

  test('get their seats when it is unlocked in time', async () => {
    await eventually(async () => {
      let asked: Promise<number[]>;
      await whileHeld(holdLicense(), async () => {
        asked = all(30, newMachine);
        await untilWaiting();
      });
      expect([...new Set(await asked!)]).toEqual([200]);
    });
  });
});

test('changes of a locked record by 30 people leave connections for changes of others', async () => {
  const { customerId } = await makeCustomer(staffPatiently);
  const change = () =>
    staff.call(customers.update, { params: { id: customerId }, body: { name: 'Changed', country: 'FR' } });
  await whileHeld(`select 1 from customers where customer_id = '${customerId}' for update`, async () => {
    const changes = Promise.all(Array.from({ length: 30 }, () => timed(change)));
    await untilWaiting();
    expect([...new Set(await all(12, () => staff.call(customers.list)))]).toEqual([200]);
    expect([
      ...new Set(
        await all(12, () =>
          staff.call(customers.create, { body: { name: unique('Clinic'), country: 'DE' } }),
        ),
      ),
    ]).toEqual([201]);
    const asked = await changes;
    expect([...new Set(asked.map(({ status }) => status))]).toEqual([503]);
    expect(asked.filter(({ retryAfter }) => !(Number(retryAfter) >= 1))).toEqual([]);
  });
  await eventually(async () => expect((await change()).status).toBe(200));
});

test('a change waits for a locked record as many times longer as the database may take', async () => {
  const { customerId } = await makeCustomer(staffPatiently);
  const patient = await startTwin(server, { config: { databaseLimitFactor: 10 } });
  const api = patient.api(await patient.signInAs('super_admin'));
  await holder.query('begin');
  await holder.query('select from customers where customer_id = $1 for update', [customerId]);
  const changed = api.call(customers.update, {
    params: { id: customerId },
    body: { name: 'Changed', country: 'FR' },
  });
  // longer than without the factor, by both tries
  await sleep(4000);
  await holder.query('rollback');
  expect((await changed).status).toBe(200);
});

test('everyday calls that all wait leave validations alone, and /readyz says what they get', async () => {
  const ready = async () => (await fetch(`${server.url}/readyz`)).status;
  await whileHeld('lock table audit_entries in access exclusive mode', async () => {
    const waiting = all(24, () => staff.call(audit.list));
    await eventually(() => server.pool.waitingCount > 0);
    const known = { body: { licenseKey: other.licenseKey, machineId: 'known' } };
    expect([...new Set(await all(20, () => desktop.call(validation.validate, known)))]).toEqual([200]);
    await eventually(async () => expect(await ready()).toBe(503));
    expect([...new Set(await waiting)]).toEqual([503]);
  });
  await eventually(async () => expect(await ready()).toBe(200));
});

describe('what the database could not do now', () => {
  test.each([
    ['57014', 'The database took too long for this call. Try again in a moment.'],
    ['55P03', 'Another change holds what this call needs. Try again in a moment.'],
    ['53100', 'The disk of the database is full. Try again later.'],
  ])('%s is 503 with Retry-After and a line in the log', async (code, sentence) => {
    await holder.query(`
      create or replace function strained() returns trigger language plpgsql as
        $$ begin raise exception 'strained' using errcode = '${code}'; end $$;
      create or replace trigger strained before insert on customers for each row execute function strained()`);
    await eventually(async () => {
      log.length = 0;
      const answer = await staff.call(customers.create, { body: { name: 'Strained', country: 'DE' } });
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([503, 'UNAVAILABLE', sentence]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      const logged = log.map((line) => JSON.parse(line) as { route?: string });
      expect(logged.filter(({ route }) => route)).toEqual([
        expect.objectContaining({ msg: sentence, route: '/api/customers' }),
      ]);
    });
    await holder.query('drop trigger strained on customers');
    await eventually(async () => expect((await staff.call(customers.list)).status).toBe(200));
  });

  test('staff get an error for a locked license within seconds', async () => {
    await whileHeld(holdLicense(), async () => {
      const { status, retryAfter, ms } = await timed(() =>
        staff.call(licenses.revoke, { params: { id: locked.licenseId } }),
      );
      expect([status, Number(retryAfter) >= 1]).toEqual([503, true]);
      expect(ms).toBeLessThan(patience(8000));
    });
  });
});
