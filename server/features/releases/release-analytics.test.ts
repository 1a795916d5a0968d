import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { releases as calls } from '../../../contract/releases.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { days, minutes, movableClock, startTestServer } from '../../../tests/harness.ts';

async function startAt(time: string) {
  const server = await startTestServer({ clock: movableClock(time) });
  const viewer = server.api(await server.signInAs('viewer'));
  return [server, () => viewer.ok(calls.analytics, {})] as const;
}

const day = (text: string) => new Date(`${text}T00:00:00.000Z`);

test('an empty service answers 30 days without a check', async () => {
  const [_, ask] = await startAt('2026-03-10T00:00:00.000Z');
  const { updateTrends, releaseStats, machineActivity } = await ask();
  expect(updateTrends).toHaveLength(30);
  expect(updateTrends[0]).toEqual({ date: '2026-02-09', totalChecks: 0, uniqueMachines: 0 });
  expect(updateTrends.at(-1)).toEqual({ date: '2026-03-10', totalChecks: 0, uniqueMachines: 0 });
  expect(new Set(updateTrends.map((point) => point.date)).size).toBe(30);
  expect(releaseStats).toEqual([]);
  expect(machineActivity).toEqual([]);
});

test('the days are those of UTC: the window moves at midnight', async () => {
  const [server, ask] = await startAt('2026-11-20T23:59:59.999Z');
  await server.db
    .insertInto('update_days')
    .values([
      { day: day('2026-10-21'), total_checks: 7, unique_machines: 6 },
      { day: day('2026-10-22'), total_checks: 10, unique_machines: 4 },
      { day: day('2026-11-20'), total_checks: 20, unique_machines: 5 },
      { day: day('2026-11-21'), total_checks: 1, unique_machines: 1 },
    ])
    .execute();
  const before = await ask();
  expect(before.updateTrends.filter((point) => point.totalChecks > 0)).toEqual([
    { date: '2026-10-22', totalChecks: 10, uniqueMachines: 4 },
    { date: '2026-11-20', totalChecks: 20, uniqueMachines: 5 },
  ]);
  server.clock.advance(1);
  const after = await ask();
  expect([after.updateTrends[0]!.date, after.updateTrends.at(-1)!.date]).toEqual([
    '2026-10-23',
    '2026-11-21',
  ]);
  expect(after.updateTrends).toHaveLength(30);
});

test('downloads come by release, newest version first, without the bin', async () => {
  const [server, ask] = await startAt('2026-11-20T12:00:00.000Z');
  const old = await makeRelease(server, { version: '1.9.0' });
  const fresh = await makeRelease(server, { version: '1.10.0', channel: 'beta', architecture: 'arm64' });
  const gone = await makeRelease(server, { version: '2.0.0' });
  const totals = { downloads: 12, completed_downloads: 9, failed_downloads: 2, unique_downloads: 10 };
  await server.db
    .insertInto('release_totals')
    .values([
      { release_id: old.id, ...totals },
      { release_id: gone.id, ...totals },
    ])
    .execute();
  const admin = server.api(await server.signInAs('admin'));
  await admin.ok(calls.softDelete, { params: { releaseId: gone.id }, body: { reason: 'x' } });
  const facts = { platform: 'win32', architecture: 'x64', fileKind: 'exe', channel: 'stable' };
  expect((await ask()).releaseStats).toEqual([
    {
      id: fresh.id,
      version: '1.10.0',
      ...facts,
      channel: 'beta',
      architecture: 'arm64',
      totalDownloads: 0,
      completedDownloads: 0,
      failedDownloads: 0,
      uniqueDownloads: 0,
      provenDownloads: 0,
    },
    {
      id: old.id,
      version: '1.9.0',
      ...facts,
      totalDownloads: 12,
      completedDownloads: 9,
      failedDownloads: 2,
      uniqueDownloads: 10,
      provenDownloads: 0,
    },
  ]);
  const [listed] = await admin.ok(calls.list, { query: { search: '1.9.0' } });
  expect(listed!.downloadCount).toBe(12);
});

test('machines: the ten last active', async () => {
  const [server, ask] = await startAt('2026-11-20T12:00:00.000Z');
  const now = server.clock.now().getTime();
  const rows = Array.from({ length: 12 }, (_, n) => ({
    machine_hash: createHash('sha256').update(`${n}`).digest(),
    display_id: `M-${n}`,
    platform: n === 11 ? null : 'win32',
    architecture: n === 11 ? null : 'x64',
    channel: null,
    last_version: n === 11 ? null : '1.0.0',
    os_version: null,
    app_version: null,
    first_seen: new Date(now),
    last_seen: new Date(now - minutes(20 - n)),
    last_check_day: null,
    total_checks: n,
    total_events: n,
    proven_at: n === 11 ? new Date(now) : null,
    validated_at: null as Date | null,
    notes: null,
  }));
  // its record was made by its first validation
  const onlyValidates = {
    ...rows[0]!,
    machine_hash: createHash('sha256').update('only validates').digest(),
    display_id: 'VALIDATES',
    proven_at: new Date(now),
  };
  const stoppedAsking = {
    ...rows[10]!,
    machine_hash: createHash('sha256').update('validates still').digest(),
    display_id: 'STOPPED',
    last_seen: new Date(now - days(40)),
    validated_at: new Date(now - minutes(30)),
    proven_at: new Date(now - days(40)),
  };
  rows[11]!.validated_at = new Date(now - minutes(1));
  await server.db
    .insertInto('machines')
    .values([...rows, onlyValidates, stoppedAsking])
    .execute();
  const { machineActivity, provenMachines } = await ask();
  expect(provenMachines).toBe(1);
  expect(machineActivity.map((m) => m.displayId)).toEqual(
    Array.from({ length: 10 }, (_, n) => `M-${11 - n}`),
  );
  expect(machineActivity[0]).toEqual({
    displayId: 'M-11',
    platform: null,
    architecture: null,
    lastVersion: null,
    lastSeen: new Date(now - minutes(1)).toISOString(),
    provenAt: new Date(now).toISOString(),
    totalEvents: 11,
  });
});
