import { describe, expect, test } from 'vitest';
import { machineStandings as calls } from '../../../contract/machine-standing.ts';
import { makeApiKey, makeLicense, reportEvents, revoke, validateOn } from '../../../tests/factories.ts';
import { eventually, minutes, numbers, startTestServer, type Api } from '../../../tests/harness.ts';

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const desktop = server.api(await makeApiKey(staff, { scopes: ['updates', 'validate'] }));

const find = async (search: string) => (await staff.ok(calls.list, { query: { search } }))[0];

describe('the timeline', () => {
  test('folds validations and update events into runs, and keeps validations from who may not read licenses', async () => {
    const license = await makeLicense(staff);
    for (let n = 0; n < 3; n++) {
      await validateOn(desktop, license, 'told', { hostname: 'WS-TOLD' });
      server.clock.advance(1000);
    }
    await revoke(staff, license);
    await validateOn(desktop, license, 'told');
    const event = { machineId: 'told', timestamp: server.clock.now().toISOString() };
    await reportEvents(desktop, [event, event]);
    const { displayId } = await eventually(async () => (await find('WS-TOLD')) ?? false);
    const told = async (who: Api) => {
      const { data } = (await who.call(calls.timeline, { params: { id: displayId } })).body;
      return data
        .map(({ kind, code, count, licenseId }) => `${kind} ${code} ${count} ${licenseId}`)
        .toSorted();
    };
    const { licenseId } = license;
    const all = ['check null 2 null', `validation REVOKED 1 ${licenseId}`, `validation VALID 3 ${licenseId}`];
    await eventually(async () => (await told(staff)).length === all.length);
    expect(await told(staff)).toEqual(all);
    expect(await told(server.api((await server.signInAs('binary_manager')).byCookie))).toEqual([
      'check null 2 null',
    ]);
  });

  test('goes on page by page, and loses nothing', async () => {
    const at = (n: number) =>
      new Date(server.clock.now().getTime() - 60_000 * Math.floor(n / 3)).toISOString();
    for (const batch of [0, 1, 2])
      await reportEvents(
        desktop,
        numbers(400).map((n) => ({ machineId: 'long ago', timestamp: at(batch * 400 + n) })),
      );
    const machine = await eventually(async () => (await find('long ago')) ?? false);
    const pages = async () => {
      const counts: number[] = [];
      for (let before: string | undefined; ;) {
        const query = { ...(before && { before }) };
        const { data, meta } = (
          await staff.call(calls.timeline, { params: { id: machine.displayId }, query })
        ).body;
        counts.push(data.reduce((sum, run) => sum + run.count, 0));
        if (!meta.next) return counts;
        before = meta.next;
      }
    };
    await eventually(async () => (await pages()).reduce((sum, n) => sum + n, 0) === 1200);
    expect((await pages()).length).toBe(3);
  });

  test('shows what came before an instant that fills a page once, on the next page', async () => {
    const machineId = 'all at once';
    await validateOn(desktop, await makeLicense(staff), machineId);
    server.clock.advance(minutes(1));
    const timestamp = server.clock.now().toISOString();
    await reportEvents(
      desktop,
      numbers(500).map(() => ({ machineId, timestamp })),
    );
    const machine = await eventually(async () => (await find(machineId)) ?? false);
    const page = async (query: { before?: string } = {}) => {
      const { data, meta } = (await staff.call(calls.timeline, { params: { id: machine.displayId }, query }))
        .body;
      return { runs: data.map(({ kind, count }) => [kind, count]), meta };
    };
    const first = await eventually(async () => {
      const found = await page();
      return found.runs[0]?.[1] === 500 && found;
    });
    expect(first.runs).toEqual([['check', 500]]);
    expect((await page({ before: first.meta.next! })).runs).toEqual([['validation', 1]]);
  });

  test.each([calls.get, calls.timeline])('of no machine is not found', async (route) => {
    for (const id of ['0000NEVER000', 'x', '‮'])
      expect((await staff.call(route, { params: { id } })).body).toMatchObject({
        error: 'Machine not found',
      });
  });
});
