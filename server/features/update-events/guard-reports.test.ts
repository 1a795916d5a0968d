import { beforeEach, describe, expect, test } from 'vitest';
import { machines as machineCalls } from '../../../contract/machines.ts';
import { releases as releaseCalls, type Release } from '../../../contract/releases.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { updateEvents as calls } from '../../../contract/update-events.ts';
import { updates } from '../../../contract/updates.ts';
import { startEventsRoom } from '../../../tests/events-room.ts';
import { askFeed, makeRelease, type Told } from '../../../tests/factories.ts';
import { auditOf, days, eventually, hours, minutes } from '../../../tests/harness.ts';
import { pauseFailing } from './failure-guard.ts';
import { machineHashOf } from '../../machine-hash.ts';

type Event = RouteRequest<typeof calls.report>['body']['events'][number];

const { server, twin, staff, updatesKey, desktop, desktopOfTwin, report, row, written } =
  await startEventsRoom();

let release: Release;
beforeEach(async () => {
  release = await makeRelease(server);
});

async function fetchFile({ fileUrl }: Release, machineId: string): Promise<void> {
  const headers = { ...updatesKey.headers, 'x-machine-id': machineId };
  const file = await fetch(server.url + new URL(fileUrl).pathname, { headers });
  expect(file.status).toBe(200);
  await file.arrayBuffer();
}

/** The events of a machine that took an update: it asked for it. */
const asked = 1;

/** Each machine asks the feed as an updater does, and fetches what it is offered. */
async function takeUpdate(taken: Release, machineIds: readonly string[]): Promise<void> {
  await Promise.all(
    machineIds.map(async (machineId) => {
      const feed = await askFeed(desktop, { 'x-machine-id': machineId, 'x-app-version': '0.0.1' });
      expect(feed.text).toContain(`version: "${taken.version}"`);
      await fetchFile(taken, machineId);
    }),
  );
  await completed(taken, machineIds);
}

/** Waits until it is written that each machine has the whole file. */
async function completed({ version }: Release, machineIds: readonly string[]): Promise<void> {
  const hashes = machineIds.map((id) => Buffer.from(machineHashOf(id), 'hex'));
  await eventually(async () => {
    const rows = await server.db
      .selectFrom('downloads')
      .select('completed_at')
      .where('machine_hash', 'in', hashes)
      .where('version', '=', version)
      .where('completed_at', 'is not', null)
      .execute();
    return rows.length === machineIds.length;
  });
}

describe('what nobody saw', () => {
  const paused = async ({ id }: Release) =>
    (await staff.ok(releaseCalls.get, { params: { releaseId: id } })).pausedAt !== null;
  const failed = (machineIds: readonly string[], { version, id }: Release): Told[] =>
    machineIds.map((machineId) => ({
      machineId,
      eventType: 'install_error',
      toVersion: version,
      releaseId: id,
    }));
  const many = (what: string, count: number) => Array.from({ length: count }, (_, n) => `${what} ${n}`);

  test('of invented machines pauses no rollout, whatever they report; of those that took it, it does', async () => {
    const guarded = await makeRelease(server, { acceptableFailures: 1 });
    const { version, id } = guarded;
    const invented = many(`invented ${id}`, 25);
    await report(
      desktop,
      invented.map((machineId) => ({ machineId, toVersion: version, releaseId: id })),
    );
    await report(
      desktop,
      invented.map((machineId) => ({
        machineId,
        eventType: 'download_complete' as const,
        toVersion: version,
      })),
    );
    await report(desktop, failed(invented, guarded));
    await written(invented.at(-1)!, 3);
    await pauseFailing(server.context, [id]);
    expect(await paused(guarded)).toBe(false);

    const real = many(`real ${id}`, 3);
    await takeUpdate(guarded, real);
    await report(desktop, failed(real, guarded));
    await eventually(() => paused(guarded));
  });

  test('a machine that fetched what it was not offered does not count either', async () => {
    const guarded = await makeRelease(server, {
      rolloutPercentage: 0,
      acceptableFailures: 1,
    });
    const curious = many(`curious ${guarded.id}`, 2);
    // what a machine says it was offered is no offer
    const { id: releaseId, version: toVersion } = guarded;
    await report(
      desktop,
      curious.map((machineId) => ({ machineId, toVersion, releaseId })),
    );
    for (const machineId of curious) await written(machineId, 1);
    for (const machineId of curious) await fetchFile(guarded, machineId);
    await completed(guarded, curious);
    await report(desktop, failed(curious, guarded));
    for (const machineId of curious) await written(machineId, 2);
    await pauseFailing(server.context, [releaseId]);
    expect(await paused(guarded)).toBe(false);
  });

  test('a reported version beyond all releases is kept, and decides nothing', async () => {
    const machineId = `frozen ${release.id}`;
    await report(desktop, [{ machineId, fromVersion: '999.0.0' }]);
    expect((await written(machineId, 1)).last_version).toBe('999.0.0');
    const { text } = await askFeed(desktop, { 'x-machine-id': machineId });
    expect(text).toContain('files:\n  - url');
    await written(machineId, 2);
    const explained = await staff.ok(machineCalls.explain, { params: { id: machineHashOf(machineId) } });
    expect(explained.some(({ offered }) => offered)).toBe(true);
    expect(explained.map(({ reason }) => reason)).not.toContain('NOT_NEWER');
  });
});

describe('a release in the feeds', () => {
  const now = () => staff.ok(releaseCalls.get, { params: { releaseId: release.id } });
  const outcomes = (from: number, to: number, eventType: Event['eventType']) =>
    Array.from({ length: to - from }, (_, n) => ({
      machineId: `patient ${release.id} ${from + n}`,
      eventType,
      toVersion: release.version,
    }));
  beforeEach(async () => {
    release = await makeRelease(server, { acceptableFailures: 0.5 });
    await takeUpdate(
      release,
      outcomes(0, 61, 'check').map(({ machineId }) => machineId),
    );
  });

  test('pauses itself when more than acceptable fail, with the numbers, and goes on when staff say so', async () => {
    await report(desktop, outcomes(0, 45, 'install_complete'));
    // the guard looks when the other process has written its failures, and would not see these yet
    await written(`patient ${release.id} 44`, 1 + asked);
    await report(desktopOfTwin, outcomes(45, 48, 'install_error'));
    await written(`patient ${release.id} 47`, 1 + asked);
    await pauseFailing(server.context, [release.id]);
    expect(await now()).toMatchObject({ pausedAt: null });
    await report(desktop, outcomes(48, 49, 'install_error'));
    const paused = await eventually(async () => {
      const state = await now();
      return state.pausedAt !== null && state;
    });
    expect(paused.pauseReason).toBe(
      `4 of 49 installs of ${release.version} for Windows (x64) failed (8.2 %). 0.5 % are acceptable.`,
    );
    const entries = await auditOf(server, release.id);
    expect(entries.at(-1)).toMatchObject({ event_type: 'release.rollout_paused', user_email: 'system' });

    server.clock.advance(minutes(1));
    await staff.ok(releaseCalls.resume, { params: { releaseId: release.id } });
    await report(desktop, outcomes(60, 61, 'install_error'));
    await written(`patient ${release.id} 60`, 1 + asked);
    expect((await now()).pausedAt).toBeNull();
  });

  test('counts the last outcome of a machine, and a rollback as a failure', async () => {
    await report(desktop, [...outcomes(0, 47, 'install_complete'), ...outcomes(47, 50, 'install_error')]);
    await report(desktop, outcomes(47, 50, 'install_complete'));
    await written(`patient ${release.id} 49`, 2 + asked);
    const rolledBack = outcomes(0, 4, 'rollback').map((event) => ({
      ...event,
      fromVersion: release.version,
      toVersion: '0.9.0',
    }));
    // by a clock that was ahead when they were installed
    await server.db
      .updateTable('downloads')
      .set({ installed_at: new Date(server.clock.now().getTime() + days(3)) })
      .where('release_id', '=', release.id)
      .where('install_failed', '=', false)
      .execute();
    await report(desktop, rolledBack.slice(0, 3));
    await written(`patient ${release.id} 2`, 2 + asked);
    await pauseFailing(server.context, [release.id]);
    expect((await now()).pausedAt).toBeNull();
    await report(desktop, rolledBack.slice(3));
    await eventually(async () => (await now()).pausedAt !== null);
    expect((await now()).pauseReason).toContain('4 of 50 installs');
    expect(await row(`patient ${release.id} 0`)).toMatchObject({ last_version: '0.9.0' });
  });
});

describe('the guard', () => {
  const paused = async () =>
    (await staff.ok(releaseCalls.get, { params: { releaseId: release.id } })).pausedAt !== null;
  const failures = (machineId: string, count: number): Told[] =>
    Array.from({ length: count }, () => ({
      machineId,
      eventType: 'install_error',
      toVersion: release.version,
    }));

  test('counts a machine once, however often it reports that it failed', async () => {
    release = await makeRelease(server, { acceptableFailures: 0.1 });
    const machineId = `loud ${release.id}`;
    await takeUpdate(release, [machineId]);
    await report(desktop, failures(machineId, 500));
    await report(desktopOfTwin, failures(machineId, 500));
    await written(machineId, 1000 + asked);
    await pauseFailing(server.context, [release.id]);
    expect(await paused()).toBe(false);
  });

  test('pauses once, in however many processes it looks', async () => {
    const failing = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name} ${release.id}`);
    await takeUpdate(release, failing);
    await report(
      desktop,
      failing.flatMap((machineId) => failures(machineId, 1)),
    );
    const contexts = Array.from({ length: 8 }, (_, n) => (n % 2 ? twin.context : server.context));
    await eventually(async () => {
      await Promise.all(contexts.map((context) => pauseFailing(context, [release.id])));
      return paused();
    });
    await Promise.all(contexts.map((context) => pauseFailing(context, [release.id])));
    const events = (await auditOf(server, release.id)).map(({ event_type }) => event_type);
    expect(events.filter((event) => event === 'release.rollout_paused')).toHaveLength(1);
  });
});

describe('a release whose machines report neither its id nor the right time', () => {
  const failing = { acceptableFailures: 1 };
  const pausedAt = async ({ id }: Release) =>
    (await staff.ok(releaseCalls.get, { params: { releaseId: id } })).pausedAt;

  test('is the one that its updater was offered, where a version has several kinds of file', async () => {
    const version = '7.0.0';
    const installer = await makeRelease(server, { ...failing, version });
    const fileName = 'App-7.0.0-full.nupkg';
    const squirrel = await makeRelease(server, { ...failing, version, fileKind: 'nupkg', fileName });
    const machines = ['squirrel 1', 'squirrel 2'];
    for (const machineId of machines) {
      await desktop.call(updates.squirrelWindows, {
        params: { architecture: 'x64' },
        query: { machineId, localVersion: '6.0.0' },
      });
      await eventually(async () => (await row(machineId))?.total_checks === 1);
    }
    const all = (eventType: Event['eventType']) =>
      machines.map((machineId) => ({ machineId, eventType, toVersion: version }));
    for (const machineId of machines) await fetchFile(squirrel, machineId);
    await completed(squirrel, machines);
    await report(desktop, [...all('download_start'), ...all('install_error')]);
    await eventually(async () => (await pausedAt(squirrel)) !== null);
    expect(await pausedAt(installer)).toBeNull();
  });

  test.each([
    ['names the id of the first', '7.1.0', true, true],
    ['reports have only the id of the first', '7.2.0', true, false],
    ['is not named', '7.3.0', false, true],
  ])(
    'is the one that the machine fetched, where its feed lists several kinds and %s',
    async (_, version, hasId, hasVersion) => {
      const make = (fileKind: string, fileName: string) =>
        makeRelease(server, { ...failing, version, platform: 'linux', fileKind, fileName });
      const appImage = await make('appimage', 'App.AppImage');
      const deb = await make('deb', 'app.deb');
      const machines = [`deb 1 ${version}`, `deb 2 ${version}`];
      const all = (eventType: Event['eventType'], one: Release, ids = machines): Told[] =>
        ids.map((machineId) => ({
          machineId,
          eventType,
          platform: 'linux',
          ...(hasId ? { releaseId: one.id } : {}),
          ...(hasVersion ? { toVersion: version } : {}),
        }));
      const params = { platform: 'linux', architecture: 'x64', file: 'latest-linux.yml' } as const;
      const both = `both ${version}`;
      for (const machineId of [...machines, both]) {
        const feed = await desktop.call(updates.electron, { params }, { 'x-machine-id': machineId });
        expect(feed.text).toContain(`releaseId: "${appImage.id}"`);
        await fetchFile(deb, machineId);
      }
      await completed(deb, [...machines, both]);
      await report(desktop, [
        ...all('download_start', appImage),
        ...all('download_complete', appImage),
        ...all('install_error', appImage),
      ]);
      await eventually(async () => (await pausedAt(deb)) !== null);
      const ofAppImage = () =>
        server.db.selectFrom('downloads').select('install_failed').where('release_id', '=', appImage.id);
      expect(await ofAppImage().execute()).toEqual([]);
      const { updateHistory } = await staff.ok(machineCalls.get, {
        params: { id: machineHashOf(`deb 1 ${version}`) },
      });
      expect(updateHistory[0]).toMatchObject({ eventType: 'install_error', releaseId: deb.id });

      // it went over to the AppImage: what it says of a file that it has fetched as well is taken as said
      await fetchFile(appImage, both);
      await completed(appImage, [both]);
      await report(desktop, all('install_error', appImage, [both]));
      await written(both, 2);
      expect(await ofAppImage().execute()).toEqual([{ install_failed: true }]);
      expect(await pausedAt(appImage)).toBeNull();
    },
  );

  test('is the one that the machine was offered, where its program leaves out the build metadata', async () => {
    const broken = await makeRelease(server, { ...failing, version: '98.0.0' });
    const params = { releaseId: broken.id };
    await staff.ok(releaseCalls.withdraw, { params, body: { reason: 'It crashes' } });
    const again = await makeRelease(server, { ...failing, version: '98.0.0+2' });
    const machines = ['plain 1', 'plain 2'];
    await takeUpdate(again, machines);
    await report(
      desktop,
      machines.map((machineId) => ({ machineId, eventType: 'install_error', toVersion: '98.0.0' })),
    );
    await eventually(async () => (await pausedAt(again)) !== null);
    // a machine that was offered neither: the one of exactly this version
    await report(desktop, [{ machineId: 'plain 3', eventType: 'install_error', toVersion: '98.0.0' }]);
    await written('plain 3', 1);
    const { updateHistory } = await staff.ok(machineCalls.get, { params: { id: machineHashOf('plain 3') } });
    expect(updateHistory).toMatchObject([{ releaseId: broken.id }]);
  });

  test('counts every install since it was published or resumed, by however much a clock is slow', async () => {
    const fresh = await makeRelease(server, { ...failing, version: '99.0.0' });
    await takeUpdate(fresh, ['slow 1', 'slow 2']);
    const timestamp = new Date(server.clock.now().getTime() - hours(9)).toISOString();
    const slow = (machineId: string, eventType: Event['eventType']) => ({
      machineId,
      eventType,
      timestamp,
      toVersion: fresh.version,
    });
    await report(desktop, [slow('slow 1', 'install_error'), slow('slow 2', 'install_error')]);
    await eventually(async () => (await pausedAt(fresh)) !== null);
    const { updateHistory } = await staff.ok(machineCalls.get, { params: { id: machineHashOf('slow 1') } });
    const failed = updateHistory.find(({ eventType }) => eventType === 'install_error');
    expect(failed!.timestamp, 'the history is what the machine says').toBe(timestamp);

    server.clock.advance(hours(1));
    await staff.ok(releaseCalls.resume, { params: { releaseId: fresh.id } });
    await takeUpdate(fresh, ['slow 3', 'slow 4']);
    await report(desktop, [slow('slow 3', 'install_error'), slow('slow 4', 'install_error')]);
    await eventually(async () => (await pausedAt(fresh)) !== null);
  });

  test.each([
    ['hours', hours(12), '99.1.0'],
    ['days', days(9), '99.2.0'],
  ])(
    'counts them too while the clock of the service is %s behind the newest time',
    async (_, ms, version) => {
      const at = new Date(server.clock.now().getTime() + ms);
      await server.db.deleteFrom('newest_moment').execute();
      await server.db.insertInto('newest_moment').values({ at }).execute();
      const draft = await makeRelease(server, { ...failing, version, isDraft: true });
      const params = { releaseId: draft.id };
      await staff.ok(releaseCalls.update, { params, body: { isDraft: false } });
      const failed = (machineId: string) =>
        ({ machineId, eventType: 'install_error', toVersion: draft.version }) as const;
      await takeUpdate(draft, [`${version} early 1`, `${version} early 2`]);
      await report(desktop, [failed(`${version} early 1`), failed(`${version} early 2`)]);
      await eventually(async () => (await pausedAt(draft)) !== null);
      await staff.ok(releaseCalls.resume, { params });
      await takeUpdate(draft, [`${version} early 3`, `${version} early 4`]);
      await report(desktop, [failed(`${version} early 3`)]);
      await written(`${version} early 3`, 1 + asked);
      await pauseFailing(server.context, [draft.id]);
      expect(await pausedAt(draft), 'those of before the resume do not count').toBeNull();
      await report(desktop, [failed(`${version} early 4`)]);
      await eventually(async () => (await pausedAt(draft)) !== null);
    },
  );
});
