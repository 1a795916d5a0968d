import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { licenses as calls, type License, type SeatFilter } from '../../../contract/licenses.ts';
import {
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  softDelete,
  validateOn,
  type LicenseFields,
} from '../../../tests/factories.ts';
import { days, eventually, startTestServer, startTwin, type Api } from '../../../tests/harness.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));

const keys = (list: License[]) => list.map((license) => license.licenseKey);

/** A server with nothing in it, for tests that look at whole lists. */
async function fresh() {
  const own = await startTestServer();
  return [own.api((await own.signInAs('super_admin')).byCookie), own] as const;
}

describe('the three tabs', () => {
  test('divide all licenses, to the millisecond of validUntil', async () => {
    const [own, ownServer] = await fresh();
    const license = await makeLicense(own, { validUntil: '2026-12-01T00:00:00Z' });
    await revoke(own, await makeLicense(own, { validUntil: '2026-12-01T00:00:00Z' }));
    const counts = () =>
      eventually(async () => {
        const { counts: now } = (await own.call(calls.list)).body.meta;
        const tabs = await Promise.all(
          (['active', 'revoked', 'expired'] as const).map(
            async (tab) => (await own.ok(calls.list, { query: { tab } })).length,
          ),
        );
        expect([now.active, now.revoked, now.expired]).toEqual(tabs);
        return tabs;
      });
    expect(await counts()).toEqual([1, 1, 0]);
    ownServer.clock.set('2026-12-01T00:00:00.000Z');
    expect(await counts(), 'at validUntil itself').toEqual([1, 1, 0]);
    ownServer.clock.advance(1);
    expect(await counts(), 'a millisecond later').toEqual([0, 1, 1]);
    await revoke(own, license);
    expect(await counts(), 'an expired license that is revoked').toEqual([0, 2, 0]);
  });

  test('are counted under the other filters, and total is that of the tab', async () => {
    const [own] = await fresh();
    const { customerId } = await makeLicense(own, { type: 'trial' });
    await makeLicense(own, { customerId });
    await revoke(own, await makeLicense(own, { customerId }));
    await makeLicense(own);
    const meta = async (query: object) => (await own.call(calls.list, { query })).body.meta;
    expect(await meta({ customerId })).toMatchObject({
      total: 3,
      counts: { active: 2, revoked: 1, expired: 0 },
    });
    expect(await meta({ customerId, tab: 'revoked' })).toMatchObject({
      total: 1,
      counts: { active: 2, revoked: 1, expired: 0 },
    });
    expect(await meta({ type: 'trial' })).toMatchObject({
      total: 1,
      counts: { active: 1, revoked: 0, expired: 0 },
    });
  });

  test('show a change at once, in its own process, and in another within moments', async () => {
    const [own, ownServer] = await fresh();
    const twin = await startTwin(ownServer);
    const other = twin.api(await twin.signInAs('viewer'));
    const counts = async (who: Api) => (await who.call(calls.list)).body.meta.counts;
    // counts are kept for a second, which does not pass: those of a process that is not told would not change
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => now.mockRestore());
    expect(await counts(other)).toEqual({ active: 0, revoked: 0, expired: 0 });
    const license = await makeLicense(own);
    expect(await counts(own)).toEqual({ active: 1, revoked: 0, expired: 0 });
    await expect.poll(() => counts(other)).toEqual({ active: 1, revoked: 0, expired: 0 });
    await revoke(own, license);
    expect(await counts(own)).toEqual({ active: 0, revoked: 1, expired: 0 });
    await expect.poll(() => counts(other)).toEqual({ active: 0, revoked: 1, expired: 0 });
  });
});

describe('the list', () => {
  test('groups by customer, and says how many licenses each has in the whole list', async () => {
    const [own] = await fresh();
    const b = await makeCustomer(own, { name: 'beta' });
    const a = await makeCustomer(own, { name: 'Alpha' });
    for (const { customerId } of [b, a, b, a, a]) await makeLicense(own, { customerId });
    const whole = await own.call(calls.list);
    expect(whole.body.data.map((license) => license.customer!.name)).toEqual([
      'Alpha',
      'Alpha',
      'Alpha',
      'beta',
      'beta',
    ]);
    expect(whole.body.meta).toMatchObject({ total: 5, limit: null, offset: 0 });
    const page = await own.call(calls.list, { query: { limit: '2', offset: '2' } });
    expect(page.body.data.map((license) => license.customer!.name)).toEqual(['Alpha', 'beta']);
    expect(page.body.meta.groups.toSorted((x, y) => x.count - y.count)).toEqual([
      { customerId: b.customerId, count: 2 },
      { customerId: a.customerId, count: 3 },
    ]);
  });

  test('marks licenses of a soft-deleted customer', async () => {
    const license = await makeLicense(api);
    await softDelete(api, license);
    const [listed] = await api.ok(calls.list, { query: { customerId: license.customerId } });
    expect(listed!.customer!.deletedAt).toBe(server.clock.now().toISOString());
  });

  test('pages without gaps or doubles in every order', async () => {
    const [own] = await fresh();
    const { customerId } = await makeCustomer(own);
    await Promise.all(
      Array.from({ length: 13 }, (_, i) =>
        makeLicense(own, { ...(i % 2 ? { customerId } : {}), type: i % 3 ? 'trial' : 'enterprise' }),
      ),
    );
    const all = keys(await own.ok(calls.list)).toSorted();
    for (const sort of [
      'customer',
      '-customer',
      'licenseKey',
      '-type',
      'validUntil',
      'activations',
      '-createdAt',
    ] as const) {
      const pages = await Promise.all(
        [0, 5, 10, 15].map((offset) =>
          own.ok(calls.list, { query: { sort, limit: '5', offset: String(offset) } }),
        ),
      );
      expect(
        pages.map((page) => page.length),
        sort,
      ).toEqual([5, 5, 3, 0]);
      expect(keys(pages.flat()).toSorted(), sort).toEqual(all);
    }
  });

  test('sorts by every column, both ways', async () => {
    const [own, ownServer] = await fresh();
    const desktop = ownServer.api(await makeApiKey(own));
    const make = async (name: string, fields: LicenseFields, machines: number) => {
      const { customerId } = await makeCustomer(own, { name });
      ownServer.clock.advance(1000);
      const license = await makeLicense(own, { customerId, ...fields });
      for (let i = 0; i < machines; i++) await validateOn(desktop, license, `m${i}`);
      return license.licenseKey;
    };
    const one = await make('b', { type: 'trial', validUntil: '2028-01-01T00:00:00Z', maxActivations: 2 }, 1);
    const two = await make(
      'C',
      { type: 'enterprise', validUntil: '2027-01-01T00:00:00Z', maxActivations: 10 },
      3,
    );
    const three = await make(
      'a',
      { type: 'trial', validUntil: '2029-01-01T00:00:00Z', maxActivations: 1 },
      1,
    );
    const order = async (sort: string) => keys(await own.ok(calls.list, { query: { sort: sort as never } }));
    const expected: Record<string, string[]> = {
      customer: [three, one, two],
      licenseKey: [one, two, three].toSorted(),
      validUntil: [two, one, three],
      activations: [two, one, three],
      createdAt: [one, two, three],
    };
    for (const [sort, list] of Object.entries(expected)) {
      expect(await order(sort), sort).toEqual(list);
      expect(await order(`-${sort}`), `-${sort}`).toEqual(list.toReversed());
    }
    expect((await order('type'))[0]).toBe(two);
    expect((await order('-type'))[2]).toBe(two);
  });

  test('finds those that expire within so many days', async () => {
    const [own] = await fresh();
    const until = (offset: number) => new Date(Date.UTC(2026, 10, 20, 9, 30) + offset).toISOString();
    const [soon, edge] = [
      await makeLicense(own, { validUntil: until(days(1)) }),
      await makeLicense(own, { validUntil: until(days(30)) }),
    ];
    await makeLicense(own, { validUntil: until(days(30) + 1) });
    await makeLicense(own, { validUntil: until(-1) });
    const listed = await own.ok(calls.list, { query: { expiringWithinDays: '30', sort: 'validUntil' } });
    expect(keys(listed)).toEqual(keys([soon, edge]));
  });

  test('finds those with all seats in use, above 75 percent of them, and none, with the counts of the tabs', async () => {
    const [own] = await fresh();
    const used = async (seats: number, of: number) => {
      const license = await makeLicense(own, { maxActivations: of });
      for (let n = 0; n < seats; n++) await validateOn(own, license, `machine-${n}`);
      return license;
    };
    const [full, high, atThreeQuarters, empty] = [
      await used(1, 1),
      await used(4, 5),
      await used(3, 4),
      await used(0, 2),
    ];
    const found = (seats: SeatFilter) => own.ok(calls.list, { query: { seats, sort: 'createdAt' } });
    expect(keys(await found('full'))).toEqual(keys([full]));
    expect(keys(await found('high'))).toEqual(keys([full, high]));
    expect(keys(await found('empty'))).toEqual(keys([empty]));
    const { body } = await own.call(calls.list, { query: { seats: 'high' } });
    expect(body.meta.counts).toEqual({ active: 2, revoked: 0, expired: 0 });
    const csv = await own.call(calls.exportCsv, { query: { seats: 'empty' } });
    expect(csv.text).toContain(empty.licenseKey);
    expect(csv.text).not.toContain(atThreeQuarters.licenseKey);
  });

  test('finds those not seen for so many days: neither new ones, nor ones that any machine uses', async () => {
    const [own, ownServer] = await fresh();
    const { clock } = ownServer;
    const desktop = ownServer.api(await makeApiKey(own));
    const [silent, used, partlyUsed] = [
      await makeLicense(own),
      await makeLicense(own),
      await makeLicense(own, { maxActivations: 2 }),
    ];
    for (const license of [silent, used, partlyUsed]) await validateOn(desktop, license, 'first');
    await validateOn(desktop, partlyUsed, 'second');
    const unseen = async (unseenForDays: string) =>
      keys(await own.ok(calls.list, { query: { unseenForDays, sort: 'createdAt' } }));
    clock.advance(days(30));
    await validateOn(desktop, used, 'first');
    await validateOn(desktop, partlyUsed, 'second');
    const issuedToday = await makeLicense(own);
    await eventually(async () => expect(await unseen('30')).toEqual([silent.licenseKey]));
    clock.advance(days(1));
    expect(await unseen('1')).toEqual(keys([silent, used, partlyUsed, issuedToday]));
    expect(await unseen('31')).toEqual([silent.licenseKey]);
    expect(await unseen('32')).toEqual([]);
    await validateOn(desktop, silent, 'first');
    await eventually(async () => expect(await unseen('31')).toEqual([]));
  });
});

describe('the CSV of the list', () => {
  test('holds the filtered list with derived states and readable modules', async () => {
    const [own] = await fresh();
    const { customerId } = await makeCustomer(own, { name: '=Evil, Inc.' });
    const license = await makeLicense(own, {
      customerId,
      validUntil: '2026-11-01T00:00:00Z',
      moduleIds: ['mod_lung_nodule', 'mod_copd'],
    });
    await makeLicense(own);
    const answer = await own.call(calls.exportCsv, { query: { tab: 'expired' } });
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="licenses-2026-11-20.csv"');
    const [header, ...rows] = answer.text.trimEnd().split('\n');
    expect(header).toBe(
      'License Key,Customer,Type,Status,Activations,Max Activations,Modules,Valid From,Valid Until,Id',
    );
    expect(rows).toEqual([
      `${license.licenseKey},"'=Evil, Inc.",enterprise,expired,0,3,"Lung Nodule, Copd",2026-01-01T00:00:00.000Z,2026-11-01T00:00:00.000Z,${license.licenseId}`,
    ]);
  });

  test('leaves an entry that says who took the keys, and by which filter', async () => {
    const [own] = await fresh();
    await makeLicense(own);
    await own.call(calls.exportCsv, { query: { type: 'enterprise' } });
    const { entries } = await own.ok(audit.list, { query: { eventType: 'license.exported' } });
    expect(entries).toMatchObject([
      { changes_summary: 'Licenses: exported 1 as CSV', resource_type: 'license' },
    ]);
    const { after } = await own.ok(audit.get, { params: { id: entries[0]!.audit_id } });
    expect(after).toEqual({ filter: { type: 'enterprise' } });
  });
});
