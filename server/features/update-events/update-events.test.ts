import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, describe, expect, test } from 'vitest';
import { machines as machineCalls } from '../../../contract/machines.ts';
import { releases as releaseCalls, type Release } from '../../../contract/releases.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { updateEvents as calls } from '../../../contract/update-events.ts';
import { startEventsRoom } from '../../../tests/events-room.ts';
import { makeApiKey, makeRelease, unique, type Told } from '../../../tests/factories.ts';
import { eventually, startTwin, within } from '../../../tests/harness.ts';
import { machineHashOf } from '../../machine-hash.ts';

type Event = RouteRequest<typeof calls.report>['body']['events'][number];

const { server, staff, desktop, desktopOfTwin, report, row, written } = await startEventsRoom();

let release: Release;
beforeEach(async () => {
  release = await makeRelease(server);
});

const totals = () =>
  server.db.selectFrom('release_totals').selectAll().where('release_id', '=', release.id).executeTakeFirst();

const day = () =>
  server.db
    .selectFrom('update_days')
    .select(['total_checks', 'unique_machines'])
    .where('day', '=', server.clock.now())
    .executeTakeFirst();

describe('a report', () => {
  test('is written within a second of the answer', async () => {
    await within(1000, async () => {
      const machineId = unique('prompt');
      expect(await report(desktop, [{ machineId }])).toEqual({ accepted: 1 });
      await written(machineId, 1);
    });
  });

  test('fills in the machine, and takes away nothing that it leaves out', async () => {
    await report(desktop, [
      {
        machineId: 'facts',
        channel: 'beta',
        fromVersion: '1.0.0',
        appVersion: '1.0.0',
        osVersion: 'Windows 11',
      },
      { machineId: 'facts', eventType: 'install_complete', fromVersion: '1.0.0', toVersion: '1.1.0' },
    ]);
    await written('facts', 2);
    await report(desktop, [{ machineId: 'facts', platform: undefined, architecture: undefined }]);
    expect(await written('facts', 3)).toMatchObject({
      platform: 'win32',
      architecture: 'x64',
      channel: 'beta',
      last_version: '1.1.0',
      app_version: '1.0.0',
      os_version: 'Windows 11',
      total_checks: 2,
      total_events: 3,
    });
  });

  test('counts once, however often and wherever it is sent', async () => {
    const events = [1, 2, 3].map(() => ({ eventId: randomUUID(), machineId: 'insistent' }));
    await Promise.all(
      [desktop, desktopOfTwin, desktop, desktopOfTwin].map((api) => report(api, [...events, events[0]!])),
    );
    await report(desktop, [{ machineId: 'insistent' }]);
    await written('insistent', 4);
    await Promise.all([desktop, desktopOfTwin].map((api) => report(api, events)));
    await report(desktop, [{ machineId: 'insistent' }]);
    expect((await written('insistent', 5)).total_events).toBe(5);
    const { updateHistory } = await staff.ok(machineCalls.get, {
      params: { id: machineHashOf('insistent') },
    });
    expect(updateHistory).toHaveLength(5);
  });

  test('uses up no event of another machine with its id, nor does one before it', async () => {
    const failed = { eventId: uuidv7(), eventType: 'install_error' as const, releaseId: release.id };
    for (const machineId of ['image 1', 'image 2']) {
      await report(desktop, [{ ...failed, machineId, toVersion: release.version }]);
      await written(machineId, 1);
    }
    await report(desktop, [{ ...failed, machineId: 'image 1' }, { machineId: 'image 1' }]);
    expect((await written('image 1', 2)).total_events).toBe(2);
  });

  test('from a clock that runs ahead happened now', async () => {
    await report(desktop, [{ machineId: 'ahead', timestamp: '2199-01-01T00:00:00Z' }]);
    await written('ahead', 1);
    const { updateHistory } = await staff.ok(machineCalls.get, { params: { id: machineHashOf('ahead') } });
    expect(updateHistory[0]!.timestamp).toBe(server.clock.now().toISOString());
  });

  test('needs a key for updates, and is checked', async () => {
    const validating = server.api(await makeApiKey(staff, { scopes: ['validate'] }));
    const body = { events: [{ eventId: uuidv7(), machineId: 'x', eventType: 'check' as const }] };
    expect((await validating.call(calls.report, { body })).status).toBe(403);
    expect((await server.api().call(calls.report, { body })).body).toMatchObject({
      code: 'UNAUTHENTICATED',
      error: 'Send an API key (X-API-Key) or a machine token (X-Machine-Token), or sign in.',
    });
    const wrong = { events: [{ ...body.events[0]!, eventId: 'no id' }] };
    expect((await desktop.call(calls.report, { body: wrong })).body.details[0]!.path).toBe(
      'events.0.eventId',
    );
    const color = { events: [body.events[0]!, { ...body.events[0]!, color: 'red' }] };
    expect((await desktop.call(calls.report, { body: color })).body.details).toEqual([
      { path: 'events.1.color', message: 'Unknown field' },
    ]);
    expect((await desktop.call(calls.report, { body: { events: [] } })).status).toBe(400);
  });
});

describe('the figures of a day', () => {
  test('count each machine once a day, exactly, over processes', async () => {
    server.clock.set('2026-12-01T10:00:00Z');
    const checks = Array.from({ length: 30 }, (_, n) => ({ machineId: `daily ${n % 10}` }));
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => report(n % 2 ? desktop : desktopOfTwin, checks.toReversed())),
    );
    await eventually(async () => (await day())?.total_checks === 240);
    expect(await day()).toEqual({ total_checks: 240, unique_machines: 10 });
    server.clock.set('2026-12-02T00:00:00Z');
    await report(desktop, checks);
    await eventually(async () => (await day())?.total_checks === 30);
    expect(await day()).toEqual({ total_checks: 30, unique_machines: 10 });
  });

  test('count a machine on a day that it reports after a check of a later one, once', async () => {
    server.clock.set('2026-12-05T10:00:00Z');
    await report(desktop, [{ machineId: 'offline' }]);
    await written('offline', 1);
    const timestamp = '2026-12-04T10:00:00Z';
    await report(desktop, [
      { machineId: 'offline', timestamp },
      { machineId: 'offline', timestamp },
    ]);
    await written('offline', 3);
    await report(desktop, [{ machineId: 'offline', timestamp }]);
    await written('offline', 4);
    server.clock.set(timestamp);
    expect(await day()).toEqual({ total_checks: 3, unique_machines: 1 });
  });
});

describe('downloads', () => {
  const download = (machineId: string, eventType: Event['eventType'], more: Told = {}) => ({
    machineId,
    eventType,
    toVersion: release.version,
    ...more,
  });

  test('count once a machine and release', async () => {
    await report(desktop, [
      download('loader', 'download_start'),
      download('loader', 'download_start'),
      download('loader', 'download_complete', { bytesDownloaded: 1000 }),
    ]);
    await written('loader', 3);
    await report(desktopOfTwin, [download('loader', 'download_start'), download('loader', 'download_error')]);
    const machine = await written('loader', 5);
    expect(machine.total_downloads).toBe(1);
    expect(await totals()).toMatchObject({
      downloads: 1,
      unique_downloads: 1,
      completed_downloads: 1,
      failed_downloads: 0,
    });
    const { downloadHistory } = await staff.ok(machineCalls.get, { params: { id: machine.display_id } });
    expect(downloadHistory).toEqual([
      expect.objectContaining({ version: release.version, bytesDownloaded: 1000, errorCode: null }),
    ]);
    expect((await staff.ok(releaseCalls.get, { params: { releaseId: release.id } })).downloadCount).toBe(1);
  });

  test('that fail count as failed until a retry completes', async () => {
    await report(desktop, [
      download('flaky', 'download_start'),
      download('flaky', 'download_error', { errorCode: 'ECONNRESET', errorMessage: 'connection reset' }),
    ]);
    const { display_id } = await written('flaky', 2);
    expect(await totals()).toMatchObject({ downloads: 1, completed_downloads: 0, failed_downloads: 1 });
    const shown = () => staff.ok(machineCalls.get, { params: { id: display_id } });
    expect((await shown()).downloadHistory[0]).toMatchObject({ errorCode: 'ECONNRESET', completedAt: null });
    await report(desktop, [download('flaky', 'download_start'), download('flaky', 'download_complete')]);
    await written('flaky', 4);
    expect(await totals()).toMatchObject({ downloads: 1, completed_downloads: 1, failed_downloads: 0 });
    expect((await shown()).downloadHistory[0]).toMatchObject({ errorCode: null });
    expect((await shown()).downloadHistory[0]!.completedAt).not.toBeNull();
    expect((await shown()).updateHistory.map((e) => [e.eventType, e.success, e.errorMessage])).toContainEqual(
      ['download_error', false, 'connection reset'],
    );
  });

  test('of many machines at once, by several processes, count right and never deadlock', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `crowd ${n}`);
    const batches = Array.from({ length: 12 }, (_, n) => {
      const turned = [...names.slice(n * 5), ...names.slice(0, n * 5)];
      return n % 3 ? turned : turned.toReversed();
    });
    await Promise.all(
      batches.map((batch, n) =>
        report(
          n % 2 ? desktop : desktopOfTwin,
          batch.map((name) => download(name, n % 4 ? 'download_complete' : 'download_error')),
        ),
      ),
    );
    for (const name of names) await written(name, 12);
    expect(await totals()).toMatchObject({ downloads: 60, completed_downloads: 60, failed_downloads: 0 });
    for (const name of names) expect(await row(name)).toMatchObject({ total_events: 12, total_downloads: 1 });
  });

  test('are found by the release id that the feed names, else by version, platform and architecture', async () => {
    const arm = await makeRelease(server, { version: release.version, architecture: 'arm64' });
    await report(desktop, [
      download('named', 'download_start', { toVersion: undefined, releaseId: arm.id }),
      download('named', 'download_start', { architecture: 'arm64' }),
      download('named', 'download_start', { toVersion: '0.0.1' }),
      download('named', 'download_start', { toVersion: 'no version', releaseId: randomUUID() }),
    ]);
    expect((await written('named', 4)).total_downloads).toBe(1);
    const count = await server.db
      .selectFrom('release_totals')
      .select('downloads')
      .where('release_id', '=', arm.id)
      .executeTakeFirst();
    expect(count?.downloads).toBe(1);
  });

  test('of a release that is removed for good take no other event with them', async () => {
    await server.db.deleteFrom('releases').where('release_id', '=', release.id).execute();
    await report(desktop, [
      download('late', 'download_start', { releaseId: release.id }),
      { machineId: 'late' },
    ]);
    expect(await written('late', 2)).toMatchObject({ total_downloads: 0, total_checks: 1 });
  });
});

test('what was reported is there after a clean stop', async () => {
  const third = await startTwin(server);
  const key = await makeApiKey(staff, { scopes: ['updates'] });
  await report(third.api(key), [{ machineId: 'last words' }]);
  await third.close();
  expect(await row('last words')).toBeDefined();
});
