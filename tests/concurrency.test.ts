import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { activations } from '../contract/activations.ts';
import { customers } from '../contract/customers.ts';
import { licenses, type License } from '../contract/licenses.ts';
import { validation } from '../contract/validation.ts';
import { migrate } from '../server/db/migrate.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { ensureFirstAdmin, seedRoles } from '../server/features/users/index.ts';
import {
  deactivate,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  validateOn,
} from './factories.ts';
import { auditOf, createTestDatabase, numbers, startTestServer, startTwin, type Api } from './harness.ts';

const server = await startTestServer();
const twin = await startTwin(server);
const staff = server.api(await server.signInAs('super_admin'));
const key = await makeApiKey(staff);
/** Desktops: one that calls the first process, one that calls the second. */
const desktops: [Api, Api] = [server.api(key), twin.api(key)];

const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const count = (codes: string[], code: string) => codes.filter((one) => one === code).length;

/** Seats taken, by the counter of the license and by its rows. */
async function seats({ licenseId }: Pick<License, 'licenseId'>): Promise<{ counter: number; rows: number }> {
  const { rows } = await server.pool.query<{ counter: number; rows: number }>(
    `select current_activations as counter,
            (select count(*) from activations a where a.license_id = l.license_id and status = 'active') as rows
       from licenses l where license_id = $1`,
    [licenseId],
  );
  return rows[0]!;
}

describe('seats', () => {
  test.each([
    ['one process', () => [desktops[0], desktops[0]] as const],
    ['two processes', () => desktops],
  ])('200 machines at once on 10 seats, by %s: exactly 10 win', async (_, who) => {
    const license = await makeLicense(staff, { maxActivations: 10 });
    const results = await Promise.all(
      numbers(200).map((i) => validateOn(who()[i % 2]!, license, `machine-${i}`)),
    );
    const codes = results.map((result) => result.code);
    expect([count(codes, 'VALID'), count(codes, 'TOO_MANY_ACTIVATIONS')]).toEqual([10, 190]);
    expect(await seats(license)).toEqual({ counter: 10, rows: 10 });
    const winners = results.filter((result) => result.valid).map((result) => result.machineId);
    expect((await machinesOf(staff, license)).map((machine) => machine.machineId).toSorted()).toEqual(
      winners.toSorted(),
    );
  });

  test('50 machines at once on the last seat: one wins', async () => {
    const license = await makeLicense(staff, { maxActivations: 5 });
    for (const i of numbers(4)) await validateOn(desktops[0], license, `early-${i}`);
    const results = await Promise.all(
      numbers(50).map((i) => validateOn(desktops[i % 2]!, license, `late-${i}`)),
    );
    expect(
      count(
        results.map((result) => result.code),
        'VALID',
      ),
    ).toBe(1);
    expect(await seats(license)).toEqual({ counter: 5, rows: 5 });
  });

  test('one machine that calls 60 times at once gets one activation, with one audit entry', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const results = await Promise.all(numbers(60).map((i) => validateOn(desktops[i % 2]!, license, 'eager')));
    expect(new Set(results.map((result) => result.code))).toEqual(new Set(['VALID']));
    expect(new Set(results.map((result) => result.activation!.activationId)).size).toBe(1);
    expect(await seats(license)).toEqual({ counter: 1, rows: 1 });
    expect(await auditOf(server, results[0]!.activation!.activationId)).toHaveLength(1);
  });

  test('are given to no machine after a revocation has been answered', async () => {
    const license = await makeLicense(staff, { maxActivations: 100 });
    let revoked = false;
    const machines = numbers(80).map(async (i) => {
      const after = revoked;
      const { code } = await validateOn(desktops[i % 2]!, license, `m-${i}`);
      return { after, code };
    });
    const done = revoke(staff, license).then(() => (revoked = true));
    const late = done.then(() =>
      Promise.all(numbers(20).map((i) => validateOn(desktops[i % 2]!, license, `late-${i}`))),
    );
    await Promise.all(machines);
    expect(new Set((await late).map((result) => result.code))).toEqual(new Set(['REVOKED']));
    const { counter, rows } = await seats(license);
    expect(counter).toBe(rows);
  });

  test('are given to no machine above a limit that has been answered', async () => {
    const license = await makeLicense(staff, { maxActivations: 40 });
    const machines = (name: string) =>
      Promise.all(numbers(40).map((i) => validateOn(desktops[i % 2]!, license, `${name}-${i}`)));
    const held = machines('m');
    await staff.ok(licenses.update, { ...at(license), body: { maxActivations: 10 } });
    const late = await machines('late');
    const { counter, rows } = await seats(license);
    expect(counter).toBe(rows);
    const early = (await held).filter(({ valid }) => valid).length;
    expect(early + late.filter(({ valid }) => valid).length).toBe(counter);
    // those of before are more than ten, or fill up to them
    expect(counter).toBe(Math.max(early, 10));
  });

  test('are counted right after any operations in parallel (property)', async () => {
    const operation = fc.record({
      kind: fc.oneof(
        { weight: 3, arbitrary: fc.constant('validate') },
        fc.constantFrom('release', 'deactivate', 'reactivate', 'set seats', 'transfer', 'revoke', 'restore'),
      ),
      machine: fc.integer({ min: 0, max: 5 }).map((i) => `m-${i}`),
      process: fc.constantFrom(0, 1),
      number: fc.integer({ min: 1, max: 4 }),
    });
    const owners: { customerId: string }[] = [];
    for (const _ of numbers(4)) owners.push({ customerId: (await makeCustomer(staff)).customerId });
    const colleagues = [staff, twin.api(await twin.signInAs('super_admin'))] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 10, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (operations, maxActivations) => {
          const license = await makeLicense(staff, { maxActivations });
          const run = async ({ kind, machine, process, number }: (typeof operations)[number]) => {
            const desktop = desktops[process];
            const colleague = colleagues[process];
            const byPerson = new Map<string, () => Promise<{ status: number }>>([
              [
                'set seats',
                () => colleague.call(licenses.update, { ...at(license), body: { maxActivations: number } }),
              ],
              [
                'transfer',
                () => colleague.call(licenses.transfer, { ...at(license), body: owners[number - 1]! }),
              ],
              ['revoke', () => colleague.call(licenses.revoke, at(license))],
              ['restore', () => colleague.call(licenses.reactivate, at(license))],
            ]).get(kind);
            if (byPerson) return expect([200, 409, 422]).toContain((await byPerson()).status);
            if (kind === 'validate') return validateOn(desktop, license, machine);
            if (kind === 'reactivate') return validateOn(staff, license, machine);
            if (kind === 'release')
              return desktop.ok(validation.releaseSeat, {
                body: { licenseKey: license.licenseKey, machineId: machine },
              });
            const known = (await machinesOf(staff, license)).find((one) => one.machineId === machine);
            if (!known) return undefined;
            const answer = await staff.call(activations.deactivate, {
              params: { activationId: known.activationId },
              body: { machineId: machine },
            });
            expect([200, 409]).toContain(answer.status);
            return undefined;
          };
          // the second half begins with seats in use
          const half = operations.length / 2;
          await Promise.all(operations.slice(0, half).map(run));
          await Promise.all(operations.slice(half).map(run));
          const { counter, rows } = await seats(license);
          expect(counter).toBe(rows);
          // as many as were ever allowed: fewer leave the machines their seats
          const sets = operations.filter(({ kind }) => kind === 'set seats');
          expect(counter).toBeLessThanOrEqual(Math.max(maxActivations, ...sets.map(({ number }) => number)));
        },
      ),
      { numRuns: 25, seed: 9, endOnFailure: true },
    );
  });
});

describe('two people at once', () => {
  test.each(numbers(5))('revoke one license: one 200, one 409, one audit entry (round %i)', async () => {
    const license = await makeLicense(staff);
    const other = twin.api(await twin.signInAs('license_manager'));
    const answers = await Promise.all([staff, other].map((who) => who.call(licenses.revoke, at(license))));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409]);
    const events = (await auditOf(server, license.licenseId)).map((entry) => entry.event_type);
    expect(events).toEqual(['license.created', 'license.revoked']);
  });

  test('soft-delete, restore and remove one customer: every state is left once', async () => {
    const { customerId } = await makeCustomer(staff);
    const by = { params: { id: customerId } };
    const five = async (call: (who: Api) => Promise<{ status: number }>) =>
      (await Promise.all(numbers(5).map(() => call(staff)))).map((answer) => answer.status).toSorted();
    expect(await five((who) => who.call(customers.softDelete, by))).toEqual([200, 409, 409, 409, 409]);
    expect(await five((who) => who.call(customers.restore, by))).toEqual([200, 409, 409, 409, 409]);
    await staff.ok(customers.softDelete, by);
    expect(await five((who) => who.call(customers.hardDelete, by))).toEqual([204, 404, 404, 404, 404]);
  });

  test('take the seat of one machine: it is given back once', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(desktops[0], license, 'm');
    const call = () =>
      staff.call(activations.deactivate, {
        params: { activationId: activation!.activationId },
        body: { machineId: 'm' },
      });
    const answers = await Promise.all(numbers(6).map(call));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await seats(license)).toEqual({ counter: 0, rows: 0 });
  });
});

describe('calls that lock the same rows do not fail each other', () => {
  /** A server error, except 503: so many calls that wait for one row may exhaust the connections. */
  const isOurs = (answer: { status: number }) => answer.status >= 500 && answer.status !== 503;

  /** Runs all of it concurrently, many times, and returns every server error. */
  async function storm(
    rounds: number,
    calls: (() => Promise<{ status: number; text: string }>)[],
  ): Promise<string[]> {
    const answers = await Promise.all(numbers(rounds).flatMap(() => calls.map((call) => call())));
    return answers.filter(isOurs).map((answer) => answer.text);
  }
  const validate = (license: License, who: Api) => {
    let machine = 0;
    return () =>
      who.call(validation.validate, {
        body: { licenseKey: license.licenseKey, machineId: `storm-${machine++}` },
      });
  };

  test('deactivating and validating', async () => {
    const license = await makeLicense(staff, { maxActivations: 20 });
    await Promise.all(numbers(20).map((i) => validateOn(desktops[0], license, `m-${i}`)));
    const machines = await machinesOf(staff, license);
    const calls = machines.flatMap((machine) => [
      () => deactivate(staff, machine),
      () => validateOn(desktops[0], license, machine.machineId),
      () => validateOn(desktops[1], license, machine.machineId),
    ]);
    await Promise.all(calls.map((call) => call()));
    const { counter, rows } = await seats(license);
    expect(counter).toBe(rows);
  });

  test('renaming a customer, revoking, reactivating and validating its licenses', async () => {
    const { customerId } = await makeCustomer(staff);
    const made = await Promise.all(
      numbers(3).map(() => makeLicense(staff, { customerId, maxActivations: 1000 })),
    );
    let name = 0;
    const failures = await storm(15, [
      () =>
        staff.call(customers.update, {
          params: { id: customerId },
          body: { name: `Renamed ${name++}`, country: 'DE' },
        }),
      ...made.flatMap((license) => [
        validate(license, desktops[0]),
        validate(license, desktops[1]),
        () => staff.call(licenses.revoke, at(license)),
        () => staff.call(licenses.reactivate, at(license)),
        () => staff.call(licenses.update, { ...at(license), body: { maxActivations: 999 } }),
      ]),
    ]);
    expect(failures).toEqual([]);
  });

  test('issuing, moving and deleting licenses of two customers', async () => {
    const [a, b] = await Promise.all([makeCustomer(staff), makeCustomer(staff)]);
    const movable = await Promise.all(
      numbers(4).map((i) => makeLicense(staff, { customerId: (i % 2 ? a : b).customerId })),
    );
    const body = {
      type: 'trial',
      validFrom: '2026-01-01T00:00:00Z',
      validUntil: '2027-01-01T00:00:00Z',
      maxActivations: 1,
    } as const;
    const failures = await storm(8, [
      ...[a, b].map(
        (customer) => () =>
          staff.call(licenses.create, { body: { ...body, customerId: customer.customerId } }),
      ),
      ...movable.flatMap((license) =>
        [a, b].map(
          (customer) => () =>
            staff.call(licenses.update, { ...at(license), body: { customerId: customer.customerId } }),
        ),
      ),
      ...movable.map((license) => () => staff.call(licenses.revoke, at(license))),
      ...movable.map((license) => () => staff.call(licenses.delete, at(license))),
    ]);
    expect(failures).toEqual([]);
    for (const customer of [a, b]) {
      const { licenseCount, licenses: held } = await staff.ok(customers.get, {
        params: { id: customer.customerId },
      });
      expect(licenseCount).toBe(held!.length);
    }
  });

  test('removing customers for good while their machines validate', async () => {
    const failures: string[] = [];
    await Promise.all(
      numbers(12).map(async () => {
        const license = await makeLicense(staff, { maxActivations: 1000 });
        const machines = numbers(10).map((i) => validate(license, desktops[i % 2]!)());
        const by = { params: { id: license.customerId } };
        const removal = (async () => {
          const gone = await staff.call(customers.softDelete, by);
          const more = numbers(5).map((i) => validate(license, desktops[i % 2]!)());
          const [removed, revoked, ...rest] = await Promise.all([
            staff.call(customers.hardDelete, by),
            staff.call(licenses.revoke, at(license)),
            ...more,
          ]);
          return [gone, removed, revoked, ...rest];
        })();
        const answers = [...(await Promise.all(machines)), ...(await removal)];
        failures.push(...answers.filter(isOurs).map((answer) => answer.text));
      }),
    );
    expect(failures).toEqual([]);
    const { rows } = await server.pool.query(
      'select 1 from activations a left join licenses l using (license_id) where l.license_id is null',
    );
    expect(rows).toEqual([]);
  });
});

describe('two processes that start at once on an empty database', () => {
  test('both bring the schema up to date, one after the other', async () => {
    const database = await createTestDatabase({ empty: true });
    const applied = await Promise.all(numbers(4).map(() => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    expect(await migrate(database.url)).toEqual([]);
  });

  test('make one administrator', async () => {
    const database = await createTestDatabase({ empty: true });
    await migrate(database.url);
    const pool = createPool(database.url);
    const db = createDb(pool);
    const passwords = {
      hash: async () => 'hash',
      verify: async () => false,
      derive: async () => Buffer.alloc(32),
      stop: async () => undefined,
    };
    const told: unknown[] = [];
    await Promise.all(
      numbers(6).map(async () => {
        await db.transaction().execute(seedRoles);
        const parts = { ...server.context, db };
        await ensureFirstAdmin(
          parts,
          passwords,
          server.context.config,
          new Date(),
          async (made) => void told.push(made),
        );
      }),
    );
    expect(told).toEqual([{ email: 'admin@localhost', password: expect.stringMatching(/^[\w-]{20}$/) }]);
    expect(await db.selectFrom('users').select('email').execute()).toEqual([{ email: 'admin@localhost' }]);
    await pool.end();
  });
});
