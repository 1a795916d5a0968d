import { expect, test } from 'vitest';
import { releases as calls, type ReleasePatch } from '../../../contract/releases.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { hours, minutes, startTestServer } from '../../../tests/harness.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';

const server = await startTestServer();
const api = server.api((await server.signInAs('binary_manager')).byCookie);

const later = () => (server.clock.advance(minutes(1)), server.clock.now().toISOString());
const patch = async (releaseId: string, body: ReleasePatch) =>
  (await api.ok(calls.update, { params: { releaseId }, body })).fullAt;
const rollout = async (releaseId: string, percentage: number) =>
  (await api.ok(calls.rollout, { params: { releaseId }, body: { percentage } })).fullAt;

test('a release is fully out since it last reached 100 %, published', async () => {
  const { id, fullAt } = await makeRelease(server, { isDraft: true });
  expect(fullAt).toBeNull();
  const published = later();
  expect(await patch(id, { isDraft: false })).toBe(published);
  later();
  expect(await patch(id, { releaseNotes: 'New' })).toBe(published);
  expect(await rollout(id, 50)).toBeNull();
  const widened = later();
  expect(await rollout(id, 100)).toBe(widened);
  later();
  expect(await patch(id, { isActive: false })).toBe(widened);
  expect(await patch(id, { isDraft: true })).toBeNull();
  const again = later();
  expect(await patch(id, { isDraft: false, isActive: true })).toBe(again);
});

test('it counts again on another channel, and once it is back from being withdrawn or deleted', async () => {
  const { id } = await makeRelease(server, { channel: 'alpha' });
  const moved = later();
  expect(await patch(id, { channel: 'stable' })).toBe(moved);
  later();
  expect(await patch(id, { channel: 'stable', isActive: false })).toBe(moved);
  const back = later();
  expect(await patch(id, { isActive: true })).toBe(back);
  const params = { releaseId: id };
  await api.ok(calls.softDelete, { params, body: { reason: 'A mistake' } });
  const restored = later();
  await api.ok(calls.restore, { params, body: { reason: 'None' } });
  expect((await api.ok(calls.get, { params })).fullAt).toBe(restored);
});

test('a pause does not count', async () => {
  const { id, fullAt } = await makeRelease(server);
  const params = { releaseId: id };
  let expected = Date.parse(fullAt!);
  for (const pause of [minutes(5), minutes(3)]) {
    later();
    await api.ok(calls.pause, { params, body: { reason: 'A closer look' } });
    server.clock.advance(pause);
    expected += pause;
    expect((await api.ok(calls.resume, { params })).fullAt).toBe(new Date(expected).toISOString());
  }
});

test('hours of a step and days of a deferral do not begin in the past of a clock that is set back', async () => {
  const from = server.clock.now();
  await systemChange(server.context, from, ({ tx }) => checkClock(tx, from));
  const draft = await makeRelease(server, { isDraft: true });
  const stepped = await makeRelease(server, { isDraft: true });
  server.clock.advance(-hours(12));
  try {
    const back = server.api((await server.signInAs('binary_manager')).byCookie);
    const update = (releaseId: string, body: ReleasePatch) =>
      back.ok(calls.update, { params: { releaseId }, body: { isDraft: false, ...body } });
    expect((await update(draft.id, {})).fullAt).toBe(from.toISOString());
    expect((await makeRelease(server)).fullAt).toBe(from.toISOString());
    const rolloutPlan = [{ percentage: 1, hours: 24 }];
    expect((await update(stepped.id, { rolloutPlan })).stepStartedAt).toBe(from.toISOString());
  } finally {
    server.clock.set(from);
  }
});

test('one that the previous version published to all counts from its date', async () => {
  const { id, releaseDate } = await makeRelease(server);
  await server.db.updateTable('releases').set({ full_at: null }).where('release_id', '=', id).execute();
  expect((await api.ok(calls.get, { params: { releaseId: id } })).fullAt).toBe(releaseDate);
  later();
  expect(await patch(id, { releaseNotes: 'New' })).toBe(releaseDate);
});

test('security and the minimum supported version are set and cleared', async () => {
  const { id } = await makeRelease(server, { security: true, minimumSupportedVersion: '1.0.0' });
  const get = () => api.ok(calls.get, { params: { releaseId: id } });
  expect(await get()).toMatchObject({ security: true, minimumSupportedVersion: '1.0.0' });
  await patch(id, { security: false, minimumSupportedVersion: '' });
  expect(await get()).toMatchObject({ security: false, minimumSupportedVersion: null });
});
