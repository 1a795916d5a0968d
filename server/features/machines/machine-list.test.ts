import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { activations } from '../../../contract/activations.ts';
import { audit } from '../../../contract/audit.ts';
import { customerPage } from '../../../contract/customer-page.ts';
import { customers } from '../../../contract/customers.ts';
import { licenses } from '../../../contract/licenses.ts';
import {
  machineStandings as calls,
  type MachineStanding,
  type MachineState,
} from '../../../contract/machine-standing.ts';
import { machines } from '../../../contract/machines.ts';
import { validation, type ValidationCode } from '../../../contract/validation.ts';
import {
  deactivate,
  enrollOn,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeRelease,
  makeLicense,
  reportEvents,
  revoke,
  softDelete,
  validateOn,
  type LicenseFields,
} from '../../../tests/factories.ts';
import { addressOf, days, eventually, hours, startTestServer, type Api } from '../../../tests/harness.ts';
import { issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { mostRefused } from '../validation/note-machines.ts';

const server = await startTestServer();
const session = await server.signInAs('super_admin');
const staff = server.api(session.byCookie);
const desktop = server.api(await makeApiKey(staff, { scopes: ['updates', 'validate'] }));

const find = async (query: Record<string, string>, api: Api = staff) =>
  (await api.call(calls.list, { query })).body;
const names = async (query: Record<string, string>, api?: Api) =>
  (await find(query, api)).data.map((m) => m.hostname);
/** The machine by its host name, once the validations are recorded. */
const standing = (hostname: string, isThere: (found: MachineStanding) => unknown = () => true) =>
  eventually(async () => {
    const found = (await find({ search: hostname })).data.find((m) => m.hostname === hostname);
    return found !== undefined && isThere(found) ? found : false;
  });

const lyon = await makeCustomer(staff, { name: 'Hôpital Édouard-Herriot Lyon' });
const onLyon = await makeLicense(staff, { customerId: lyon.customerId, maxActivations: 2 });

describe('the state of a machine', () => {
  const seated = async (it: string, fields: LicenseFields = {}) => {
    const license = await makeLicense(staff, fields);
    await validateOn(desktop, license, it, { hostname: it });
    return license;
  };
  /** What happened to the machine `it` on its license, and where it stands. */
  const stories: [string, MachineState, ValidationCode | null, (it: string) => Promise<unknown>][] = [
    ['validates', 'active', 'VALID', (it) => seated(it)],
    ['was revoked', 'refused', 'REVOKED', async (it) => revoke(staff, await seated(it))],
    [
      'has a customer in the trash',
      'refused',
      'CUSTOMER_INACTIVE',
      async (it) => softDelete(staff, await seated(it)),
    ],
    [
      'was deactivated',
      'refused',
      'MACHINE_DEACTIVATED',
      async (it) => {
        const license = await seated(it);
        await deactivate(staff, (await machinesOf(staff, license))[0]!);
      },
    ],
    [
      'never got a seat',
      'refused',
      'TOO_MANY_ACTIVATIONS',
      async (it) => {
        const license = await makeLicense(staff, { maxActivations: 1 });
        await validateOn(desktop, license, 'the first');
        await validateOn(desktop, license, it, { hostname: it });
      },
    ],
    [
      'gave its seat back',
      'no_seat',
      'VALID',
      async (it) => {
        const license = await seated(it);
        await desktop.ok(validation.releaseSeat, { body: { licenseKey: license.licenseKey, machineId: it } });
      },
    ],
    [
      'gave back the seat that another took',
      'no_seat',
      'TOO_MANY_ACTIVATIONS',
      async (it) => {
        const license = await seated(it, { maxActivations: 1 });
        await desktop.ok(validation.releaseSeat, { body: { licenseKey: license.licenseKey, machineId: it } });
        await validateOn(desktop, license, 'another');
      },
    ],
    [
      'moved from a revoked license',
      'active',
      'VALID',
      async (it) => {
        const license = await makeLicense(staff);
        await validateOn(desktop, await makeLicense(staff), it, { hostname: it });
        await validateOn(desktop, license, it, { hostname: it });
        await revoke(staff, license);
      },
    ],
    [
      'is refused where it ran while another license would take it',
      'refused',
      'REVOKED',
      async (it) => {
        const [runs, full] = [await makeLicense(staff), await makeLicense(staff, { maxActivations: 1 })];
        await validateOn(desktop, full, 'the one before');
        await validateOn(desktop, full, it, { hostname: it });
        server.clock.advance(hours(1));
        await validateOn(desktop, runs, it, { hostname: it });
        await deactivate(staff, (await machinesOf(staff, full))[0]!);
        await revoke(staff, runs);
      },
    ],
  ];
  test.each(stories)('that %s', async (story, state, code, happen) => {
    const it = `WS ${story}`.replaceAll(' ', '-');
    await happen(it);
    const found = await standing(it);
    expect([found.state, found.code]).toEqual([state, code]);
    expect(await names({ state, search: it })).toEqual([it]);
    const others = ['active', 'offline', 'clone', 'refused', 'no_seat'].filter((other) => other !== state);
    for (const other of others) expect(await names({ state: other, search: it })).toEqual([]);
    expect(await staff.ok(calls.get, { params: { id: found.displayId } })).toEqual(found);
  });

  test('that only asked for updates: no seat, and no license', async () => {
    await reportEvents(desktop, [{ machineId: 'updates only' }]);
    const found = await eventually(async () => (await find({ search: 'updates only' })).data[0] ?? false);
    expect(found).toMatchObject({ state: 'no_seat', code: null, license: null, customer: null });
  });

  test('that runs on a license file and never had a network', async () => {
    const license = await makeLicense(staff);
    const { endsAt, activation } = await issueTo(staff, license, offlineMachine('bunker-1'));
    const found = await staff.ok(calls.get, { params: { id: 'bunker-1' } });
    expect(found).toMatchObject({ state: 'offline', license: { licenseId: license.licenseId } });
    for (const query of [{ state: 'offline' }, { search: 'bunker' }])
      expect((await find(query)).data).toEqual([found]);
    const { activationId, machineId } = activation;
    await staff.ok(activations.deactivate, { params: { activationId }, body: { machineId, force: true } });
    const refused = await staff.ok(calls.get, { params: { id: 'bunker-1' } });
    expect(refused).toMatchObject({ state: 'refused', seat: null, offlineUntil: endsAt });
  });

  test('that came back has its seat since then, and a license file does not change it', async () => {
    const license = await makeLicense(staff);
    const machineId = 'came back';
    const validate = () => validateOn(desktop, license, machineId);
    await validate();
    await desktop.ok(validation.releaseSeat, { body: { licenseKey: license.licenseKey, machineId } });
    server.clock.advance(hours(1));
    await validate();
    const since = server.clock.now().toISOString();
    server.clock.advance(hours(1));
    await issueTo(staff, license, offlineMachine(machineId));
    const { seat } = await staff.ok(calls.get, { params: { id: machineId } });
    expect(seat?.since).toBe(since);
  });

  test('that is a clone', async () => {
    const machine = await enrollOn(server, await makeLicense(staff), 'cloned', { hostname: 'WS-CLONED' });
    await server.pool.query('update machine_credentials set cloned_at = now() where activation_id = $1', [
      machine.activationId,
    ]);
    expect((await standing('WS-CLONED')).state).toBe('clone');
  });

  test('is refused since its first refusal with this reason', async () => {
    const license = await makeLicense(staff);
    const refusedAt = async (wait: number) => {
      server.clock.advance(wait);
      await validateOn(desktop, license, 'since when', { hostname: 'WS-SINCE' });
      return server.clock.now().toISOString();
    };
    await refusedAt(0);
    await revoke(staff, license);
    const first = await refusedAt(hours(1));
    await refusedAt(hours(1));
    const isSeen = (since: string) => (found: MachineStanding) => found.since === since;
    expect((await standing('WS-SINCE', isSeen(first))).state).toBe('refused');
    await staff.ok(licenses.reactivate, { params: { id: license.licenseId } });
    await refusedAt(hours(1));
    await standing('WS-SINCE', ({ state }) => state === 'active');
    await revoke(staff, license);
    const again = await refusedAt(hours(1));
    const found = await standing('WS-SINCE', isSeen(again));
    expect(found.lastSeen).toBe(again);
    const { machine } = await staff.ok(machines.get, { params: { id: found.displayId } });
    const [listed] = await staff.ok(machines.list, { query: { limit: '1' } });
    const ofCustomer = { params: { id: found.customer!.customerId }, query: {} };
    const [theirs] = await staff.ok(customerPage.machines, ofCustomer);
    for (const shown of [machine, listed, theirs])
      expect(shown).toMatchObject({ displayId: found.displayId, lastSeen: again });
    // it did not ask while the license was valid again
    await staff.ok(licenses.reactivate, { params: { id: license.licenseId } });
    server.clock.advance(hours(1));
    await revoke(staff, license);
    await standing('WS-SINCE', isSeen(server.clock.now().toISOString()));
  });

  test('is refused since its first refusal where a clock ahead has edited the license', async () => {
    const license = await makeLicense(staff);
    const validate = () => validateOn(desktop, license, 'edited ahead', { hostname: 'WS-AHEAD' });
    await validate();
    const ahead = { updated_at: new Date(server.clock.now().getTime() + days(3)) };
    await server.db.updateTable('licenses').set(ahead).where('license_id', '=', license.licenseId).execute();
    await revoke(staff, license);
    server.clock.advance(hours(1));
    await validate();
    const refusedAt = server.clock.now().toISOString();
    await standing('WS-AHEAD', ({ since }) => since === refusedAt);
  });

  test('that is enrolled is refused since its license was revoked, and once it asks since its first refusal', async () => {
    const license = await makeLicense(staff);
    const machine = await enrollOn(server, license, 'enrolled once', { hostname: 'WS-ENROLLED' });
    await standing('WS-ENROLLED');
    server.clock.advance(hours(1));
    const revokedAt = server.clock.now().toISOString();
    await revoke(staff, license);
    server.clock.advance(hours(1));
    expect(await standing('WS-ENROLLED')).toMatchObject({ code: 'REVOKED', since: revokedAt });
    await validateOn(server.api(machine), license, 'enrolled once');
    const askedAt = server.clock.now().toISOString();
    await standing('WS-ENROLLED', ({ since, lastSeen }) => since === askedAt && lastSeen === askedAt);
  });
});

describe('the search', () => {
  beforeAll(async () => {
    await validateOn(desktop, onLyon, 'b7c1-e2f0-search', { hostname: 'ONC-WS-08', platform: 'win32' });
    await validateOn(desktop, await makeLicense(staff), 'elsewhere', { hostname: 'ONC-WS-08b' });
    await standing('ONC-WS-08');
    await standing('ONC-WS-08b');
  });

  test.each([
    'onc-ws-08 lyon',
    'LYON onc-ws',
    'c1-e2f0-se',
    'herriot WS-08',
    onLyon.licenseKey,
    onLyon.licenseKey.slice(0, 11),
    'lyon b7c1 e2f0 search édouard onc ws-08',
  ])('finds the machine by %j', async (search) => expect(await names({ search })).toEqual(['ONC-WS-08']));

  test('finds nothing for what is not there, or is a wildcard', async () => {
    const long = 'lyon b7c1 e2f0 search édouard onc';
    for (const search of [
      'onc-ws-08 paris',
      `${long} paris`,
      `${long} ws-08 paris`,
      '%',
      '_',
      "'; --",
      'a'.repeat(200),
      '<b>',
      '‮كلمة',
    ])
      expect([search, (await find({ search })).meta.total]).toEqual([search, 0]);
  });

  test('tells apart two machines of two customers that have one id', async () => {
    const validUntil = new Date(server.clock.now().getTime() + hours(2)).toISOString();
    const [inEast, inWest] = [await makeLicense(staff), await makeLicense(staff, { validUntil })];
    const facts = [
      [inEast, { hostname: 'TWIN-EAST', platform: 'win32' }],
      [inWest, { hostname: 'TWIN-WEST', platform: 'linux' }],
    ] as const;
    for (const [license, said] of facts) {
      const machine = await enrollOn(server, license, 'one id of two', said);
      await server.api(machine).ok(validation.validate, {
        body: { licenseKey: license.licenseKey, machineId: 'one id of two', ...said },
      });
      if (license !== inWest) continue;
      // a refusal is of the same record as the seat
      server.clock.advance(hours(3));
      await server.api(machine).ok(validation.validate, {
        body: { licenseKey: license.licenseKey, machineId: 'one id of two', ...said },
      });
    }
    await standing('TWIN-EAST');
    await standing('TWIN-WEST', ({ code, since }) => code === 'EXPIRED' && since !== validUntil);
    expect((await names({ search: 'one id of two' })).toSorted()).toEqual(['TWIN-EAST', 'TWIN-WEST']);
    expect(await names({ search: 'TWIN-WEST' })).toEqual(['TWIN-WEST']);
    expect(await names({ search: 'TWIN-EAST' })).toEqual(['TWIN-EAST']);
    expect(await names({ search: inWest.licenseKey })).toEqual(['TWIN-WEST']);
    expect(await names({ search: 'one id of two', platform: 'linux' })).toEqual(['TWIN-WEST']);
    expect(await names({ search: 'one id of two', platform: 'win32' })).toEqual(['TWIN-EAST']);
  });

  test('does not tell who may not read customers or licenses what they are', async () => {
    const binary = server.api((await server.signInAs('binary_manager')).byCookie);
    const [seen] = (await find({ search: 'ONC-WS-08' }, binary)).data.filter(
      (m) => m.hostname === 'ONC-WS-08',
    );
    expect(seen).toMatchObject({
      state: null,
      code: null,
      license: null,
      seat: null,
      offlineUntil: null,
      customer: null,
      since: null,
    });
    for (const search of ['lyon', onLyon.licenseKey]) expect(await names({ search }, binary)).toEqual([]);
    for (const hidden of [{ customerId: lyon.customerId }, { state: 'active' }, { state: 'no_seat' }])
      expect(await names(hidden, binary)).toEqual([]);
    const csv = (await binary.call(calls.exportCsv, { query: { search: 'ONC-WS-08' } })).text;
    expect(csv).toContain('ONC-WS-08');
    expect(csv).not.toMatch(/Lyon|State|License/);
    const onlySeen = { params: { id: seen!.displayId } };
    const detail = await binary.ok(machines.get, onlySeen);
    expect([detail.activations, detail.totals.activations]).toEqual([[], 1]);
    expect((await staff.ok(machines.get, onlySeen)).activations).not.toEqual([]);
  });
});

describe('the list', () => {
  test('filters by customer, platform, version and when they were seen', async () => {
    expect(await names({ customerId: lyon.customerId })).toEqual(['ONC-WS-08']);
    expect(await names({ customerId: lyon.customerId, platform: 'win32' })).toEqual(['ONC-WS-08']);
    expect(await names({ customerId: lyon.customerId, platform: 'linux' })).toEqual([]);
    expect(await names({ customerId: lyon.customerId, version: '9.9.9' })).toEqual([]);
    expect(await names({ customerId: lyon.customerId, seenWithinDays: '1' })).toEqual(['ONC-WS-08']);
    server.clock.advance(days(31));
    expect(await names({ customerId: lyon.customerId, seenWithinDays: '30' })).toEqual([]);
    expect(await names({ customerId: lyon.customerId, unseenForDays: '30' })).toEqual(['ONC-WS-08']);
    expect(await names({ customerId: lyon.customerId, seenWithinDays: '32' })).toEqual(['ONC-WS-08']);
    expect(await names({ customerId: lyon.customerId, unseenForDays: '32' })).toEqual([]);
    expect(await names({ customerId: lyon.customerId, seenWithinDays: '32', unseenForDays: '30' })).toEqual([
      'ONC-WS-08',
    ]);
    for (const name of ['seenWithinDays', 'unseenForDays']) {
      const statusOf = async (text: string) =>
        (await staff.call(calls.list, { query: { [name]: text } })).status;
      expect(await Promise.all(['1', '3650', '0', '3651', '1.5'].map(statusOf))).toEqual([
        200, 200, 400, 400, 400,
      ]);
    }
  });

  test('filters by the platform and version that a row shows, also of a machine that never got a seat', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const said = { platform: 'darwin', architecture: 'x64', appVersion: '7.7.7' } as const;
    await validateOn(desktop, license, 'shows a', { hostname: 'WS-SHOWS-A', ...said });
    await validateOn(desktop, license, 'shows b', { hostname: 'WS-SHOWS-B', ...said });
    const isShown = ({ version, platform }: MachineStanding) => version === '7.7.7' && platform === 'darwin';
    const { id } = await makeRelease(server, { version: '7.7.7', platform: 'darwin' });
    for (const name of ['WS-SHOWS-A', 'WS-SHOWS-B']) {
      expect(await standing(name, isShown)).toMatchObject({ releaseId: id });
      expect(await names({ search: name, version: '7.7.7' })).toEqual([name]);
      expect(await names({ search: name, platform: 'darwin' })).toEqual([name]);
      for (const start of ['7', '7.7', '7.7.'])
        expect(await names({ search: name, version: start })).toEqual([name]);
      for (const other of ['7.70', '7.7.70', '.7', '7._', '%'])
        expect(await names({ search: name, version: other })).toEqual([]);
    }
  });

  test('links a version to the release of it, also where a program leaves out the build metadata', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const said = { platform: 'darwin', architecture: 'arm64', appVersion: '7.8.0' } as const;
    await validateOn(desktop, license, 'plain', { hostname: 'WS-PLAIN', ...said });
    const shows = (id: string | null) =>
      standing('WS-PLAIN', ({ version, releaseId }) => version === '7.8.0' && releaseId === id);
    const { platform, architecture } = said;
    const build = await makeRelease(server, { version: '7.8.0+2', platform, architecture });
    await shows(build.id);
    const exact = await makeRelease(server, { version: '7.8.0', platform, architecture, isDraft: true });
    await shows(exact.id);
    for (const version of ['7.8.0', '7.8'])
      expect(await names({ search: 'WS-PLAIN', version })).toEqual(['WS-PLAIN']);
  });

  test('leaves other calls their connections while many searches take long', async () => {
    const holder = new pg.Client(server.database.url);
    await holder.connect();
    await holder.query('begin; lock table activations in access exclusive mode');
    const searches = Array.from({ length: 20 }, (_, n) =>
      staff.call(calls.list, { query: { search: `nothing ${n}` } }),
    );
    const timelines = Array.from({ length: 20 }, () =>
      staff.call(calls.timeline, { params: { id: 'elsewhere' } }),
    );
    const file = staff.call(calls.exportCsv, { query: { platform: 'linux' } });
    try {
      const { status } = await staff.call(customers.list, { query: {} });
      expect(status).toBe(200);
    } finally {
      await holder.end();
    }
    for (const answer of await Promise.all([...searches, ...timelines, file]))
      expect(answer.status).toBe(200);
  });

  test('is sorted by when they were last seen, and paged up to its end', async () => {
    const all = (await find({ limit: '500' })).data;
    expect(all.map((m) => m.lastSeen)).toEqual(
      all
        .map((m) => m.lastSeen)
        .toSorted()
        .toReversed(),
    );
    const pages = await Promise.all(
      all.map(async (_, n) => (await find({ limit: '1', offset: String(n) })).data[0]),
    );
    expect(pages.map((m) => m?.displayId)).toEqual(all.map((m) => m.displayId));
    expect((await find({ sort: 'lastSeen', limit: '1' })).data[0]?.displayId).toBe(all.at(-1)?.displayId);
    expect((await find({ offset: '10000' })).data).toEqual([]);
    for (const query of [{ offset: '10001' }, { limit: '0' }, { limit: '501' }, { sort: 'hostname' }])
      expect((await staff.call(calls.list, { query: query as never })).status).toBe(400);
    const csv = (await staff.call(calls.exportCsv)).text.trimEnd().split('\n');
    expect(csv).toHaveLength(all.length + 1);
  });

  test('keeps what a host name is, even one that is markup or a formula', async () => {
    const hostname = '=<img src=x onerror=alert(1)>';
    await validateOn(desktop, await makeLicense(staff), 'markup', { hostname });
    await eventually(async () => (await names({ search: 'onerror' })).length === 1);
    expect(await names({ search: 'onerror' })).toEqual([hostname]);
    expect((await staff.call(calls.exportCsv, { query: { search: 'onerror' } })).text).toContain(
      `"'=<img`.slice(1),
    );
  });

  test('does not grow with refused names without end', async () => {
    const license = await makeLicense(staff);
    await revoke(staff, license);
    await server.pool.query(
      `insert into refusals (license_id, machine_id, code, since, refused_at)
       select $1, 'made up ' || n, 'REVOKED', now(), now() from generate_series(1, $2::int) n`,
      [license.licenseId, mostRefused - 2],
    );
    // Written in one batch.
    const more = Array.from({ length: 8 }, (_, n) => `one too many ${n}`);
    await Promise.all(
      more.map((id) => validateOn(desktop, license, id, { hostname: `WS-ONE-TOO-MANY ${id}` })),
    );
    await validateOn(desktop, license, 'made up 7', { hostname: 'WS-SEVEN' });
    await eventually(async () => (await names({ search: 'WS-SEVEN' })).length === 1);
    expect((await names({ search: 'WS-ONE-TOO-MANY' })).length).toBeLessThanOrEqual(2);
  });
});

describe('the CSV file', () => {
  test('leaves an entry that says who took it, and by which filter', async () => {
    const filter = { search: 'ONC-WS-08', state: 'active' } as const;
    expect((await staff.call(calls.exportCsv, { query: filter })).status).toBe(200);
    const address = server.url + addressOf(calls.exportCsv);
    expect((await fetch(address, { method: 'HEAD', ...session.byCookie })).status).toBe(404);
    const { entries } = await staff.ok(audit.list, { query: { eventType: 'machine.exported', limit: '1' } });
    expect(entries).toMatchObject([
      { changes_summary: 'Machines: exported 2 as CSV', resource_type: 'machine' },
    ]);
    const { after } = await staff.ok(audit.get, { params: { id: entries[0]!.audit_id } });
    expect(after).toEqual({ filter });
  });
});

test('the CSV file has all machines of a filter, in the order of the list', async () => {
  await server.pool.query(
    `insert into machines (machine_hash, display_id, first_seen, last_seen)
     select machine_hash('long gone ' || n), machine_display_id(machine_hash('long gone ' || n)), at, at
       from generate_series(1, 1100) n, lateral (select $1::timestamptz - n % 7 * interval '1 day' as at) t`,
    [new Date(server.clock.now().getTime() - days(300))],
  );
  for (const sort of ['lastSeen', '-lastSeen'] as const) {
    const listed: string[] = [];
    for (const offset of ['0', '500', '1000'])
      listed.push(
        ...(await find({ unseenForDays: '30', sort, limit: '500', offset })).data.map((m) => m.displayId),
      );
    const { text } = await staff.call(calls.exportCsv, { query: { unseenForDays: '30', sort } });
    const [, ...rows] = text.trimEnd().split('\n');
    expect(rows.length).toBeGreaterThanOrEqual(1100);
    expect(rows.map((row) => row.split(',')[1])).toEqual(listed);
  }
});
