import { describe, expect, test } from 'vitest';
import { machinesOf, makeApiKey, makeLicense, revoke, unique, validateOn } from '../../../tests/factories.ts';
import {
  eventually,
  patiently,
  startTestServer,
  startTwin,
  within,
  type TestServer,
} from '../../../tests/harness.ts';
import { machineRow, validationsOf } from '../../../tests/rows.ts';

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const apiKey = await makeApiKey(staff);
const desktop = server.api(apiKey);

describe('what is recorded', () => {
  test('is every validation, with code, duration, key and version, within a second', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    await validateOn(desktop, license, 'rec-1', { appVersion: '1.2.3' });
    await validateOn(desktop, license, 'rec-1');
    await validateOn(desktop, 'x', 'rec-1');
    await revoke(staff, license);
    await validateOn(desktop, license, 'rec-1');
    const rows = await eventually(async () => {
      const found = await validationsOf(server, 'rec-1');
      expect(found).toHaveLength(4);
      return found;
    });
    const common = { occurred_at: server.clock.now(), api_key_id: apiKey.id };
    const known = { license_id: license.licenseId, customer_id: license.customerId };
    expect(rows).toMatchObject([
      { ...common, ...known, code: 'VALID', app_version: '1.2.3' },
      { ...common, ...known, code: 'VALID', app_version: null },
      { ...common, code: 'MALFORMED_KEY', license_id: null, customer_id: null },
      { ...common, ...known, code: 'REVOKED' },
    ]);
    for (const { duration_us } of rows) expect(duration_us).toBeGreaterThanOrEqual(0);
    await within(1000, async () => {
      const machineId = unique('rec');
      await validateOn(desktop, license, machineId);
      await eventually(async () => (await validationsOf(server, machineId)).length === 1);
    });
  });

  test('moves lastCheckedAt and the facts of the machine, and a refusal does not', async () => {
    const own = await startTestServer();
    const ownStaff = own.api((await own.signInAs('super_admin')).byCookie);
    const ownDesktop = own.api(await makeApiKey(ownStaff));
    const license = await makeLicense(ownStaff);
    const first = own.clock.now();
    await validateOn(ownDesktop, license, 'm', { appVersion: '1.0', hostname: 'first' });
    own.clock.advance(60_000);
    const seen = own.clock.now().toISOString();
    expect(
      (await validateOn(ownDesktop, license, 'm', { appVersion: '1.1' })).activation!.lastCheckedAt,
    ).toBe(seen);
    await eventually(async () =>
      expect(await machinesOf(ownStaff, license)).toMatchObject([
        { lastCheckedAt: seen, appVersion: '1.1', hostname: 'first' },
      ]),
    );
    // both are one batch
    expect((await machineRow(own, 'm'))!.first_seen).toEqual(first);
    own.clock.advance(60_000);
    await revoke(ownStaff, license);
    const refused = await validateOn(ownDesktop, license, 'm', { appVersion: '1.2' });
    expect(refused.activation!.lastCheckedAt, 'the answer tells the last check that was valid').toBe(seen);
    await eventually(async () =>
      expect(await own.db.selectFrom('validations').selectAll().execute()).toHaveLength(3),
    );
    expect(await machinesOf(ownStaff, license)).toMatchObject([{ lastCheckedAt: seen, appVersion: '1.1' }]);
  });

  test('is no older fact in place of a newer one, in whatever order they arrive', async () => {
    const own = await startTestServer();
    const ownStaff = own.api((await own.signInAs('super_admin')).byCookie);
    const ownDesktop = own.api(await makeApiKey(ownStaff));
    const license = await makeLicense(ownStaff, { validUntil: '2026-11-20T11:30:00Z' });
    const written = (count: number) =>
      eventually(async () => expect(await validationsOf(own, 'm')).toHaveLength(count));
    const facts = async () => {
      const [seat] = await machinesOf(ownStaff, license);
      const columns = ['code', 'since', 'refused_at', 'hostname', 'app_version'] as const;
      const refusals = await own.db.selectFrom('refusals').select(columns).execute();
      return { seat: [seat!.hostname, seat!.appVersion, seat!.platform], refusals };
    };
    own.clock.set('2026-11-20T11:00:00Z');
    await validateOn(ownDesktop, license, 'm', { hostname: 'new', appVersion: '2.0.0', platform: 'linux' });
    await written(1);
    own.clock.set('2026-11-20T12:00:00Z');
    await validateOn(ownDesktop, license, 'm', { hostname: 'new', appVersion: '2.0.0' });
    await written(2);
    const before = await facts();
    const at = own.clock.now();
    expect(before).toEqual({
      seat: ['new', '2.0.0', 'linux'],
      refusals: [{ code: 'EXPIRED', since: at, refused_at: at, hostname: 'new', app_version: '2.0.0' }],
    });
    // as the journal of a process that was away
    const old = { hostname: 'old', appVersion: '1.9.0', platform: 'win32' };
    own.clock.set('2026-11-20T09:50:00Z');
    expect((await validateOn(ownDesktop, license, 'm', old)).code).toBe('VALID');
    await written(3);
    await revoke(ownStaff, license);
    expect((await validateOn(ownDesktop, license, 'm', old)).code).toBe('REVOKED');
    await written(4);
    expect(await facts()).toEqual(before);
  });

  test('is all there when the server is closed right after the answers', async () => {
    const twin = await startTwin(server);
    const license = await makeLicense(staff);
    const key = await makeApiKey(staff);
    await Promise.all(Array.from({ length: 50 }, () => validateOn(twin.api(key), license, 'closing')));
    await twin.close();
    expect(await validationsOf(server, 'closing')).toHaveLength(50);
    const { total_requests } = await server.db
      .selectFrom('api_keys')
      .select('total_requests')
      .where('api_key_id', '=', key.id)
      .executeTakeFirstOrThrow();
    expect(total_requests).toBe(50);
  });

  test('survives that two processes record the same machines at the same moment', async () => {
    const twin = await startTwin(server);
    const license = await makeLicense(staff, { maxActivations: 1000 });
    const key = await makeApiKey(staff);
    const machines = Array.from({ length: 60 }, (_, i) => `both-${i}`);
    // all wait for one license, and on a busy machine longer than the service lets them
    const everyone = (order: string[], on: TestServer) =>
      Promise.all(order.map((machine) => validateOn(patiently(on.api(key)), license, machine)));
    for (let round = 0; round < 4; round++) {
      await Promise.all([everyone(machines, server), everyone(machines.toReversed(), twin)]);
    }
    await twin.close();
    await eventually(async () => {
      const { rows } = await server.pool.query(
        "select count(*) as n from validations where machine_id like 'both-%'",
      );
      expect(rows).toEqual([{ n: 480 }]);
    });
  });
});
