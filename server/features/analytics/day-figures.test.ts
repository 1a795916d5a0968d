import { afterAll, expect, test, vi } from 'vitest';
import { analytics } from '../../../contract/analytics.ts';
import { today as calls } from '../../../contract/today.ts';
import {
  makeApiKey,
  makeLicense,
  makeRelease,
  reportEvents,
  validateOn,
  type Told,
} from '../../../tests/factories.ts';
import { checkedTime, eventually, movableClock, startTestServer } from '../../../tests/harness.ts';
import { clearFigures } from './day-figures.ts';
import { systemChange } from '../../change.ts';

// the night of 25 October is an hour longer in Berlin: days are UTC, whatever the clock on the wall does
vi.stubEnv('TZ', 'Europe/Berlin');
afterAll(() => vi.unstubAllEnvs());
const clock = movableClock('2026-10-24T00:00:00Z');
const server = await startTestServer({
  clock,
});
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const desktop = server.api(await makeApiKey(staff, { scopes: ['validate', 'updates'] }));
const license = await makeLicense(staff, { maxActivations: 1 });

async function figures() {
  server.context.signals.drop('licenses');
  const all = (await staff.ok(calls.get)).figures;
  return Object.fromEntries(all.map(({ figure, today, yesterday }) => [figure, [today, yesterday]]));
}
const validateAt = async (time: string, machine = 'm') => {
  clock.set(time);
  await validateOn(desktop, license, machine);
};
const report = async (time: string, event: Told) => {
  clock.set(time);
  await reportEvents(desktop, [{ machineId: 'm', ...event }]);
};

test('the figures of the day stand beside those of yesterday at the same hour, also when the clocks change', async () => {
  await validateAt('2026-10-24T00:00:00Z');
  await validateAt('2026-10-24T09:29:59Z');
  await validateAt('2026-10-24T09:30:00Z', 'refused');
  await validateAt('2026-10-24T09:35:00Z');
  await validateAt('2026-10-24T23:59:59Z');
  await validateAt('2026-10-25T00:00:00Z');
  await validateAt('2026-10-25T09:30:00Z');
  await validateAt('2026-10-25T09:30:00Z', 'refused');
  await eventually(async () =>
    expect(await figures()).toMatchObject({ validations: [3, 3], refused: [1, 1], machines: [1, 1] }),
  );
  clock.set('2026-10-25T09:35:00Z');
  expect(await figures()).toMatchObject({ validations: [3, 4] });
});

test('today is what the analytics count', async () => {
  const period = { startDate: '2026-10-25', endDate: '2026-10-25' };
  const { codes, activations } = await staff.ok(analytics.trends, { query: period });
  const { validations, machines } = await figures();
  expect(validations![0]).toBe(codes.reduce((sum, { count }) => sum + count, 0));
  expect(machines![0]).toBe(activations[0]!.count);
});

test('downloads and installs count once for a machine and a release, when they happened', async () => {
  const release = await makeRelease(server);
  const of = { releaseId: release.id, toVersion: release.version };
  await report('2026-10-25T10:00:00Z', {});
  await report('2026-10-25T10:01:00Z', { ...of, eventType: 'download_complete' });
  await report('2026-10-25T10:02:00Z', { ...of, eventType: 'download_complete' });
  await report('2026-10-25T10:03:00Z', { ...of, eventType: 'install_error' });
  // of one batch, only the last outcome counts
  await eventually(async () => expect(await figures()).toMatchObject({ failedInstalls: [1, 0] }));
  await report('2026-10-25T10:03:30Z', { ...of, eventType: 'install_error' });
  await report('2026-10-25T10:03:30Z', { machineId: 'last' });
  await eventually(async () =>
    expect(await figures()).toMatchObject({ failedInstalls: [1, 0], checks: [2, 0] }),
  );
  await report('2026-10-25T10:04:00Z', { ...of, eventType: 'install_complete' });
  const expected = { checks: [2, 0], downloads: [1, 0], failedInstalls: [1, 0], installs: [1, 0] };
  await eventually(async () => expect(await figures()).toMatchObject(expected));
  // reported the next day
  await report('2026-10-26T12:00:00Z', { machineId: 'late', timestamp: '2026-10-25T11:00:00Z' });
  await eventually(async () => expect(await figures()).toMatchObject({ checks: [0, 3], installs: [0, 1] }));
});

test('yesterday is unknown until there is one, and what is older than three days is deleted', async () => {
  const kept = () => server.db.selectFrom('day_figures').selectAll().execute();
  clock.set('2026-10-27T10:00:00Z');
  const clear = () =>
    systemChange(server.context, clock.now(), (change) => clearFigures(change, checkedTime(server)));
  await clear();
  expect((await kept()).every(({ at }) => at >= new Date('2026-10-24T10:00:00Z'))).toBe(true);
  expect(await kept()).not.toEqual([]);
  clock.set('2026-11-20T10:00:00Z');
  await clear();
  expect(await kept()).toEqual([]);
  await validateAt('2026-11-20T10:00:00Z');
  await eventually(async () => expect(await figures()).toMatchObject({ validations: [1, null] }));
  clock.set('2026-11-21T09:59:00Z');
  expect(await figures()).toMatchObject({ validations: [0, null] });
  clock.set('2026-11-21T10:00:00Z');
  expect(await figures()).toMatchObject({ validations: [0, 1] });
});
