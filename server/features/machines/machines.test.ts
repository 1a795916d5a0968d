import { beforeAll, describe, expect, test } from 'vitest';
import { machineStandings as standings } from '../../../contract/machine-standing.ts';
import { machines as calls } from '../../../contract/machines.ts';
import { offline } from '../../../contract/offline.ts';
import { releases as releaseCalls } from '../../../contract/releases.ts';
import { updates } from '../../../contract/updates.ts';
import { validation } from '../../../contract/validation.ts';
import {
  askFeed,
  makeApiKey,
  makeLicense,
  makeRelease,
  reportEvents,
  validateOn,
  type Told,
} from '../../../tests/factories.ts';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { offlineMachine } from '../../../tests/offline-machine.ts';
import { machineRow } from '../../../tests/rows.ts';
import { machineHashOf } from '../../machine-hash.ts';

const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));
const desktop = server.api(await makeApiKey(staff, { scopes: ['updates', 'validate'] }));

async function report(machineId: string, events: Told[]): Promise<string> {
  const before = await totalOf(machineId);
  for (let n = 0; n < events.length; n += 500) {
    const batch = events.slice(n, n + 500).map((event) => ({ machineId, ...event }));
    await reportEvents(desktop, batch);
  }
  await eventually(async () => (await totalOf(machineId)) === before + events.length);
  return (await machineOf(machineId))!.display_id;
}

const machineOf = (machineId: string) => machineRow(server, machineId);
const totalOf = async (machineId: string) => (await machineOf(machineId))?.total_events ?? 0;

const check = { fromVersion: '1.0.0' };

describe('one machine', () => {
  test('is shown with its events, downloads and licenses, the latest first', async () => {
    const release = await makeRelease(server, { version: '7.1.0' });
    const license = await makeLicense(staff);
    await validateOn(desktop, license, 'whole story');
    const displayId = await report('whole story', [
      { ...check, osVersion: 'Windows 11', appVersion: '1.0.0', timestamp: '2026-11-20T08:00:00Z' },
      { eventType: 'download_start', toVersion: '7.1.0', timestamp: '2026-11-20T08:01:00Z' },
      {
        eventType: 'download_complete',
        toVersion: '7.1.0',
        bytesDownloaded: 2,
        timestamp: '2026-11-20T08:02:00Z',
      },
      {
        eventType: 'install_error',
        toVersion: '7.1.0',
        errorCode: 'E_DISK',
        errorMessage: 'disk full',
        timestamp: '2026-11-20T08:03:00Z',
      },
    ]);
    const detail = await staff.ok(calls.get, { params: { id: displayId } });
    expect(detail.machine).toEqual({
      displayId,
      machineIdHash: machineHashOf('whole story'),
      platform: 'win32',
      architecture: 'x64',
      channel: null,
      lastVersion: '1.0.0',
      osVersion: 'Windows 11',
      appVersion: '1.0.0',
      firstSeen: '2026-11-20T09:30:00.000Z',
      lastSeen: '2026-11-20T09:30:00.000Z',
      totalUpdateChecks: 1,
      totalDownloads: 1,
      notes: null,
      provenAt: null,
    });
    expect(detail.updateHistory.map((e) => [e.eventType, e.success, e.timestamp])).toEqual([
      ['install_error', false, '2026-11-20T08:03:00.000Z'],
      ['download_complete', true, '2026-11-20T08:02:00.000Z'],
      ['download_start', true, '2026-11-20T08:01:00.000Z'],
      ['check', true, '2026-11-20T08:00:00.000Z'],
    ]);
    expect(detail.updateHistory[0]).toMatchObject({ errorCode: 'E_DISK', errorMessage: 'disk full' });
    expect(detail.downloadHistory).toEqual([
      expect.objectContaining({
        startedAt: '2026-11-20T08:01:00.000Z',
        completedAt: '2026-11-20T08:02:00.000Z',
        bytesDownloaded: 2,
        errorCode: null,
        version: release.version,
        releaseId: release.id,
      }),
    ]);
    const namedReleases = async () => {
      const { updateHistory } = await staff.ok(calls.get, { params: { id: displayId } });
      const timeline = await staff.ok(standings.timeline, { params: { id: displayId } });
      return [updateHistory, timeline].map((told) => told.find(({ toVersion }) => toVersion)?.releaseId);
    };
    expect(await namedReleases()).toEqual([release.id, release.id]);
    await server.db.deleteFrom('releases').where('release_id', '=', release.id).execute();
    expect(await namedReleases()).toEqual([null, null]);
    expect(detail.activations).toEqual([
      expect.objectContaining({ licenseKey: license.licenseKey, machineId: 'whole story', status: 'active' }),
    ]);
    expect(detail.totals).toEqual({ events: 4, downloads: 1, activations: 1 });
  });

  test('tells events of one instant in the order in which it reported them', async () => {
    const types = [
      'check',
      'download_start',
      'download_error',
      'download_start',
      'download_complete',
      'install_start',
      'install_error',
      'rollback',
    ] as const;
    const displayId = await report(
      'same instant',
      types.map((eventType) => ({ ...check, eventType, timestamp: '2026-11-20T08:00:00Z' })),
    );
    for (let n = 0; n < 3; n++) {
      const { updateHistory } = await staff.ok(calls.get, { params: { id: displayId } });
      expect(updateHistory.map((e) => e.eventType)).toEqual(types.toReversed());
    }
  });

  test('is found by its display id in any case, and by its hash', async () => {
    const displayId = await report('findable', [check]);
    for (const id of [displayId, displayId.toLowerCase(), machineHashOf('findable')]) {
      expect((await staff.ok(calls.get, { params: { id } })).machine.displayId).toBe(displayId);
    }
  });

  test.each(['NOSUCHMACHIN', machineHashOf('nobody'), '../x', 'a'.repeat(128)])(
    'that is not there is not found: %s',
    async (id) => {
      for (const route of [calls.get, calls.explain]) {
        const answer = await staff.call(route, { params: { id } });
        expect([answer.status, answer.body.error]).toEqual([404, 'Machine not found']);
      }
    },
  );

  test('shows the latest 200 events, and how many there are', async () => {
    const displayId = await report(
      'chatty',
      Array.from({ length: 230 }, (_, n) => ({
        ...check,
        timestamp: new Date(Date.UTC(2026, 10, 19, 0, n)).toISOString(),
      })),
    );
    const detail = await staff.ok(calls.get, { params: { id: displayId } });
    expect(detail.updateHistory).toHaveLength(200);
    expect(detail.updateHistory[0]!.timestamp).toBe('2026-11-19T03:49:00.000Z');
    expect(detail.totals.events).toBe(230);
  });
});

test('a machine without a network is known by its request, and so are the releases for it', async () => {
  const license = await makeLicense(staff);
  const older = await makeRelease(server, { version: '5.1.0', platform: 'linux', fileKind: 'deb' });
  const newer = await makeRelease(server, { version: '5.2.0', platform: 'linux', fileKind: 'deb' });
  const machine = offlineMachine('behind a wall');
  const facts = { platform: 'linux', architecture: 'x64', osVersion: 'Debian 12', appVersion: '5.1.0' };
  await staff.ok(offline.issue, {
    params: { id: license.licenseId },
    body: { request: machine.request(license, facts) },
  });
  const params = { id: machineHashOf('behind a wall') };
  expect((await staff.ok(calls.get, { params })).machine).toMatchObject({
    platform: 'linux',
    architecture: 'x64',
    osVersion: 'Debian 12',
    appVersion: '5.1.0',
    lastVersion: '5.1.0',
  });
  const explained = await staff.ok(calls.explain, { params });
  const reasonOf = ({ id }: { id: string }) => explained.find((e) => e.releaseId === id)?.reason;
  expect([reasonOf(older), reasonOf(newer)]).toEqual(['NOT_NEWER', 'OFFERED']);
});

test('the version of a validation explains no offer of a machine whose update checks name none', async () => {
  await makeRelease(server, { version: '6.1.0', architecture: 'arm64' });
  const newest = { version: '6.2.0', architecture: 'arm64', minimumAppVersion: '6.1.5' } as const;
  const { id } = await makeRelease(server, newest);
  await validateOn(desktop, await makeLicense(staff), 'terse', { appVersion: '6.1.0' });
  const feed = { platform: 'win32', architecture: 'arm64', file: 'latest.yml' } as const;
  const { text } = await desktop.call(updates.electron, { params: feed }, { 'x-machine-id': 'terse' });
  expect(text).toContain('version: "6.2.0"\nfiles:\n');
  await eventually(async () => (await machineOf('terse'))?.total_checks === 1);
  const explained = await staff.ok(calls.explain, { params: { id: machineHashOf('terse') } });
  expect(explained.find(({ releaseId }) => releaseId === id)).toMatchObject({
    reason: 'OFFERED',
    detail:
      'It is the newest release for this machine, whose version is not known or does not count, and it is fully out.',
  });
});

test('the explanation names every release, those in the bin too', async () => {
  await makeRelease(server, { version: '1.0.0', channel: 'alpha' });
  const full = await makeRelease(server, { version: '8.1.0' });
  const partial = await makeRelease(server, { version: '8.2.0', rolloutPercentage: 0 });
  const trashed = await makeRelease(server, { version: '8.3.0' });
  await staff.ok(releaseCalls.softDelete, { params: { releaseId: trashed.id }, body: { reason: 'bad' } });
  const displayId = await report('curious', [check]);
  const explained = await staff.ok(calls.explain, { params: { id: displayId } });
  const about = (id: string) => explained.find((e) => e.releaseId === id);
  expect(about(trashed.id)).toMatchObject({ reason: 'DELETED', offered: false });
  expect(about(partial.id)).toMatchObject({ reason: 'NOT_STARTED', offered: false, rolloutPercentage: 0 });
  expect(about(full.id)).toMatchObject({ reason: 'OFFERED', offered: true });
  expect(about(full.id)!.detail).toBe(
    'It is the newest release for this machine, which runs 1.0.0, and it is fully out.',
  );
  // and the feed agrees
  expect((await askFeed(desktop, { 'x-machine-id': 'curious' })).text).toContain('version: "8.1.0"');
});

describe('the list', () => {
  const names = Array.from({ length: 12 }, (_, n) => `listed ${n}`);
  beforeAll(async () => {
    for (const name of names) {
      server.clock.advance(1000);
      await report(name, [check]);
    }
  });

  test('has the last seen first, a page at a time', async () => {
    const first = await staff.call(calls.list, { query: { limit: '5' } });
    expect(first.body.data.map((m) => m.machineIdHash)).toEqual(
      names.slice(-5).toReversed().map(machineHashOf),
    );
    const next = await staff.call(calls.list, { query: { limit: '5', offset: '5' } });
    expect(next.body.data.map((m) => m.machineIdHash)).toEqual(
      names.slice(-10, -5).toReversed().map(machineHashOf),
    );
    const last = first.body.data.at(-1)!;
    const after = await staff.call(calls.list, {
      query: { limit: '5', after: `${last.lastSeen}~${last.machineIdHash}` },
    });
    expect(after.body.data).toEqual(next.body.data);
    // who wants to go deeper than this goes on from the last machine
    expect((await staff.call(calls.list, { query: { offset: '10000' } })).body.data).toEqual([]);
    expect((await staff.call(calls.list, { query: { offset: '10001' } })).status).toBe(400);
    expect((await staff.call(calls.list, { query: { after: 'nonsense' } })).status).toBe(400);
    for (const noDay of ['2026-99-99', '2026-02-30', '0000-01-01']) {
      const query = { after: `${noDay}T00:00:00Z~${last.machineIdHash}` };
      expect((await staff.call(calls.list, { query })).status).toBe(400);
    }
    await staff.ok(calls.list, { query: { after: `2026-11-20T10:00:00+23:59~${last.machineIdHash}` } });
    expect(first.body.meta).toMatchObject({ limit: 5, offset: 0 });
    expect(first.body.meta.total).toBeGreaterThanOrEqual(12);
    expect((await staff.call(calls.list)).body.meta.limit).toBe(100);
  });

  test('finds by the beginning of display id or hash, and by the whole id of the machine', async () => {
    const wanted = (await machineOf('listed 3'))!;
    const hash = wanted.machine_hash.toString('hex');
    const searches = [
      wanted.display_id,
      wanted.display_id.slice(0, 6).toLowerCase(),
      hash,
      hash.slice(0, 9),
      'listed 3',
    ];
    for (const search of searches) {
      const { data, meta } = (await staff.call(calls.list, { query: { search } })).body;
      expect([data.map((m) => m.displayId), meta.total]).toEqual([[wanted.display_id], 1]);
    }
    for (const search of ["'; --", '%', '_', 'ZZZZZZZZZZZZZ']) {
      expect((await staff.call(calls.list, { query: { search } })).body.data).toEqual([]);
    }
  });

  test('finds by the host name and by a fragment of the id, once the machine validated', async () => {
    await report('b7c1-e2f0 listed', [check]);
    const wanted = (await machineOf('b7c1-e2f0 listed'))!;
    for (const license of [await makeLicense(staff), await makeLicense(staff)])
      await staff.ok(validation.validate, {
        body: { licenseKey: license.licenseKey, machineId: 'b7c1-e2f0 listed', hostname: 'ÖNC-WS-08' },
      });
    for (const search of ['onc-ws-08', 'WS-08', 'c1-E2F']) {
      const { data, meta } = (await staff.call(calls.list, { query: { search } })).body;
      expect([search, data.map((m) => m.displayId), meta.total]).toEqual([search, [wanted.display_id], 1]);
    }
  });
});
