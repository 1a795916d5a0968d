import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { noPolicy, policies } from '../contract/policies.ts';
import { releases, type Release } from '../contract/releases.ts';
import { askFeed, enrollOn, makeApiKey, makeLicense, makeRelease, validateOn } from './factories.ts';
import {
  auditOf,
  checkedTime,
  days,
  eventually,
  hours,
  startTestServer,
  startTwin,
  type Api,
} from './harness.ts';
import { releaseRow } from './rows.ts';
import { guardState, rotateEvents, watchRollouts } from '../server/features/update-events/index.ts';
import { guardRoom } from './guard-room.ts';
import { housekeep } from '../server/jobs/housekeeping.ts';

/* What the guard counts in the database; the statistics are in guard.test.ts. */

const server = await startTestServer();
const twin = await startTwin(server);

const stateOf = ({ id }: Release) => guardState(server.db, id, server.clock.now());

const { hashOf, takes } = guardRoom(server);

describe('machines that fall silent', () => {
  const daily = 30;

  type Machine = { name: string; takes?: Release; lastSeen: Date; perDay?: number };

  /** Machines that have checked once a day for a month, and at `checked` with or without taking a release. */
  async function machines(platform: Release['platform'], checked: Date, all: readonly Machine[]) {
    const rows = all.map(({ name, lastSeen, perDay = 1 }) => ({
      machine_hash: hashOf(name),
      display_id: hashOf(name).toString('hex').slice(0, 16).toUpperCase(),
      platform,
      architecture: 'x64',
      first_seen: new Date(checked.getTime() - days(daily)),
      last_seen: lastSeen,
      total_checks: daily * perDay,
    }));
    await server.db.insertInto('machines').values(rows).execute();
    const checks = rows.map(({ machine_hash }) => ({
      event_id: uuidv7(),
      occurred_at: checked,
      machine_hash,
      event_type: 'check' as const,
      success: true,
    }));
    await server.db.insertInto('update_events').values(checks).execute();
    for (const release of new Set(all.flatMap((machine) => machine.takes ?? []))) {
      const takers = all.filter((machine) => machine.takes === release).map(({ name }) => hashOf(name));
      await takes(release, takers, checked);
    }
  }

  const pinsOf = (api: Api, id: string) => (pin: string | null) =>
    api.ok(policies.putOfCustomer, { params: { id }, body: { ...noPolicy, pin, tags: [] } });

  const named = (name: string, count: number, machine: Omit<Machine, 'name'>): Machine[] =>
    Array.from({ length: count }, (_, n) => ({ name: `${name} ${n}`, ...machine }));

  type Build = Parameters<typeof makeRelease>[1] & Pick<Release, 'platform'>;

  /** A release at 50 %, taken by 100 machines of 300 five days ago; `silent` of each were last heard of then. */
  async function fleet(build: Build, silent: { taken: number; others: number }) {
    return fleetOf(await makeRelease(server, { version: '5.0.0', rolloutPercentage: 50, ...build }), silent);
  }

  async function fleetOf(release: Release, silent: { taken: number; others: number }, name = release.id) {
    const { platform } = release;
    server.clock.advance(hours(1));
    const checked = server.clock.now();
    server.clock.advance(days(5));
    const heard = { lastSeen: new Date(server.clock.now().getTime() - hours(3)) };
    const lost = { lastSeen: checked };
    await machines(platform, checked, [
      ...named(`${name} lost`, silent.taken, { takes: release, ...lost }),
      ...named(`${name} taken`, 100 - silent.taken, { takes: release, ...heard }),
      ...named(`${name} lost other`, silent.others, lost),
      ...named(`${name} other`, 200 - silent.others, heard),
    ]);
    return release;
  }

  const pausesOf = async ({ id }: Release) =>
    (await auditOf(server, id)).filter(({ event_type }) => event_type === 'release.rollout_paused').length;

  test('pause the rollout that bricks them, once, in however many processes it is watched', async () => {
    const release = await fleet({ platform: 'linux' }, { taken: 12, others: 2 });
    const sentence =
      '12 of 100 machines that took 5.0.0 for Linux (x64) have not been heard of for twice their usual interval ' +
      '(12.0 %). Of 200 machines without it, 2 are silent (1.0 %).';
    expect(await stateOf(release)).toMatchObject({ verdict: 'SILENT', sentence });
    const contexts = [server.context, twin.context, server.context, twin.context];
    await Promise.all(contexts.map((context) => watchRollouts(context)));
    for (const context of contexts) await watchRollouts(context);
    const { paused_at, pause_reason, paused_by } = await releaseRow(server, release);
    expect([paused_at, pause_reason, paused_by]).toEqual([server.clock.now(), sentence, null]);
    expect(await pausesOf(release)).toBe(1);
  });

  test('of one release are found although the guard of others fails', async () => {
    const broken = async (version: string) => {
      const { id } = await makeRelease(server, { version, platform: 'linux', rolloutPercentage: 50 });
      // stands for whatever one release alone fails on, such as the time limit of a count
      await server.db
        .updateTable('releases')
        .set({ failures_from: sql<Date>`'infinity'` })
        .where('release_id', '=', id)
        .execute();
      return id;
    };
    const ids = [await broken('5.1.0')];
    const release = await fleet({ platform: 'linux', version: '5.2.0' }, { taken: 60, others: 0 });
    ids.push(await broken('5.3.0'));
    try {
      await watchRollouts(server.context);
      expect(await pausesOf(release)).toBe(1);
    } finally {
      await server.db.deleteFrom('releases').where('release_id', 'in', ids).execute();
    }
  });

  test('pause nothing where all are silent, as on a holiday, and where those that validate are heard', async () => {
    const release = await fleet({ platform: 'darwin' }, { taken: 95, others: 188 });
    await watchRollouts(server.context);
    expect((await stateOf(release)).figures.silence).toEqual({
      taken: 100,
      silent: 95,
      others: 200,
      othersSilent: 188,
    });
    expect(await pausesOf(release)).toBe(0);
    const staff = server.api((await server.signInAs('super_admin')).byCookie);
    const desktop = server.api(await makeApiKey(staff));
    await validateOn(desktop, await makeLicense(staff), `${release.id} lost 0`);
    expect((await stateOf(release)).figures.silence).toMatchObject({ taken: 100, silent: 94 });
  });

  test('are heard when they validate, also with a record of their own', async () => {
    const staff = server.api((await server.signInAs('super_admin')).byCookie);
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    const release = await makeRelease(server, {
      platform: 'darwin',
      version: '5.1.0',
      rolloutPercentage: 50,
    });
    const usual = await enrollOn(server, first, 'one image');
    const own = await enrollOn(server, second, 'one image');
    server.clock.advance(hours(1));
    const at = server.clock.now();
    const { rows } = await server.context.pool.query<{ machine_hash: Buffer }>(
      `update machines set platform = 'darwin', architecture = 'x64', total_checks = 30, last_seen = $1,
              first_seen = $1::timestamptz - interval '30 days'
        where machine_hash = any(
          select coalesce(c.own_hash, machine_hash(a.machine_id))
            from activations a join machine_credentials c using (activation_id) where a.machine_id = 'one image')
       returning machine_hash`,
      [at],
    );
    const hashes = rows.map(({ machine_hash }) => machine_hash);
    await takes(release, hashes, at, { proven: true });
    server.clock.advance(days(5));
    const silence = async () => (await stateOf(release)).figures.silence;
    expect(await silence()).toMatchObject({ taken: 2, silent: 2 });
    await validateOn(server.api(usual), first, 'one image');
    await eventually(async () => expect(await silence()).toMatchObject({ taken: 2, silent: 1 }));
    // a policy of the second customer keeps the release from the record of its own, not from the other
    const today = server.api((await server.signInAs('super_admin')).byCookie);
    const pinnedTo = pinsOf(today, second.customerId);
    await pinnedTo('4.');
    expect(await silence()).toMatchObject({ taken: 1, silent: 0 });
    await pinnedTo(null);
    await validateOn(server.api(own), second, 'one image');
    await eventually(async () => expect(await silence()).toMatchObject({ taken: 2, silent: 0 }));
  });

  test('count only when they had their chance, and not those that were never in use', async () => {
    const release = await makeRelease(server, { platform: 'linux', version: '6.0.0', rolloutPercentage: 5 });
    const before = server.clock.now();
    server.clock.advance(days(5));
    await machines('linux', before, [
      ...named('gone before', 10, { lastSeen: new Date(before.getTime() - days(3)) }),
    ]);
    const soon = new Date(server.clock.now().getTime() - days(1));
    await machines('linux', soon, [
      ...named('just now', 10, { takes: release, lastSeen: soon }),
      ...named('other just now', 10, { lastSeen: soon }),
    ]);
    expect((await stateOf(release)).figures.silence).toMatchObject({ taken: 0, silent: 0 });
    server.clock.advance(days(90));
    expect((await stateOf(release)).figures.silence).toBeNull();
  });

  const lost = { taken: 60, others: 0 };
  const setRollout = ({ id }: Release, rollout_percentage: number) =>
    server.db
      .updateTable('releases')
      .set({ rollout_percentage, updated_at: server.clock.now() })
      .where('release_id', '=', id)
      .execute();

  test('are watched on a release of an older line, which machines that are pinned to it take', async () => {
    await makeRelease(server, { version: '8.0.0', platform: 'darwin', fileKind: 'zip' });
    const old = await fleet({ version: '7.2.2', platform: 'darwin', fileKind: 'zip' }, lost);
    expect((await stateOf(old)).verdict).toBe('SILENT');
    await watchRollouts(server.context);
    expect(await pausesOf(old)).toBe(1);
  });

  test('are watched for 60 days after the last step, however long ago the first one was', async () => {
    const build = { version: '9.0.0', platform: 'linux', fileKind: 'rpm', rolloutPercentage: 1 } as const;
    const late = await makeRelease(server, build);
    server.clock.advance(days(61));
    expect((await stateOf(late)).figures.silence).toBeNull();
    await setRollout(late, 50);
    await fleetOf(late, lost);
    expect((await stateOf(late)).verdict).toBe('SILENT');
  });

  test('are compared after an edit by a clock that was ahead as without it', async () => {
    const build = { version: '9.0.1', platform: 'linux', fileKind: 'rpm', rolloutPercentage: 1 } as const;
    const release = await makeRelease(server, build);
    const staff = server.api((await server.signInAs('super_admin')).byCookie);
    const edit = async (body: { releaseNotes?: string; rolloutPercentage?: number }) => {
      const { updatedAt } = await staff.ok(releases.get, { params: { releaseId: release.id } });
      await staff.ok(releases.update, { params: { releaseId: release.id }, body: { ...body, updatedAt } });
    };
    const right = server.clock.now();
    server.clock.advance(days(30));
    await edit({ releaseNotes: 'Edited ahead.' });
    server.clock.set(right);
    for (const rolloutPercentage of [10, 50]) await edit({ rolloutPercentage });
    await housekeep(server.context, checkedTime(server));
    await fleetOf(release, lost);
    expect(await stateOf(release)).toMatchObject({
      verdict: 'SILENT',
      figures: { silence: { taken: 100, others: 200 } },
    });
  });

  test('are not compared at 100 %, where those without it are machines that something keeps from it', async () => {
    const full = await fleet({ version: '9.1.0', platform: 'linux', fileKind: 'rpm' }, lost);
    expect((await stateOf(full)).verdict).toBe('SILENT');
    await setRollout(full, 100);
    expect(await stateOf(full)).toMatchObject({ verdict: 'QUIET', figures: { silence: null } });
  });

  test('are not compared with machines that a policy keeps from the release', async () => {
    const build = { version: '9.2.0', platform: 'win32', fileKind: 'nupkg', rolloutPercentage: 50 } as const;
    const release = await makeRelease(server, build);
    server.clock.advance(hours(1));
    const morning = server.clock.now();
    server.clock.advance(hours(17));
    const night = server.clock.now().getTime();
    const name = (kind: string) => `${release.id} ${kind}`;
    await machines('win32', morning, [
      ...named(name('office'), 100, { takes: release, lastSeen: new Date(night - hours(9)), perDay: 10 }),
      // intensive care, on day and night
      ...named(name('ward'), 20, { lastSeen: new Date(night - hours(0.5)), perDay: 24 }),
    ]);
    const staff = server.api((await server.signInAs('super_admin')).byCookie);
    const license = await makeLicense(staff, { maxActivations: 20 });
    const desktop = server.api(await makeApiKey(staff));
    for (let n = 0; n < 20; n++) await validateOn(desktop, license, name(`ward ${n}`));
    const pinnedTo = pinsOf(staff, license.customerId);
    const silenceOf = async () => {
      const { verdict, figures } = await stateOf(release);
      return [verdict, figures.silence?.others];
    };
    expect(await silenceOf()).toEqual(['SILENT', 20]);
    await pinnedTo('8.');
    expect(await silenceOf()).toEqual(['QUIET', 0]);
    await pinnedTo('9.');
    expect(await silenceOf()).toEqual(['SILENT', 20]);
    await pinnedTo(null);
    await staff.ok(policies.putOfTag, {
      params: { tag: 'wards' },
      body: { ...noPolicy, windows: [{ zone: 'UTC', weekdays: ['sun'], from: '02:00', to: '04:00' }] },
    });
    await staff.ok(policies.putOfCustomer, {
      params: { id: license.customerId },
      body: { ...noPolicy, tags: ['wards'] },
    });
    expect(await silenceOf()).toEqual(['QUIET', 0]);
  });

  test('have the interval of their checks, however long before they only validated', async () => {
    const staff = server.api((await server.signInAs('super_admin')).byCookie);
    const license = await makeLicense(staff);
    const desktop = server.api(await makeApiKey(staff, { scopes: ['validate', 'updates'] }));
    const [asksDaily, asksSince] = ['asks daily', 'asks since today'];
    for (const machineId of [asksDaily, asksSince]) await validateOn(desktop, license, machineId);
    const asks = async (machineId: string, total: number) => {
      await askFeed(desktop, { 'x-machine-id': machineId, 'x-app-version': '0.0.1' });
      const written = server.db
        .selectFrom('machines')
        .select('machine_hash')
        .where('total_checks', '=', total);
      await eventually(async () =>
        expect(await written.execute()).toContainEqual({ machine_hash: hashOf(machineId) }),
      );
    };
    await eventually(async () =>
      expect(await server.db.selectFrom('machines').select('machine_hash').execute()).toEqual(
        expect.arrayContaining([{ machine_hash: hashOf(asksDaily) }, { machine_hash: hashOf(asksSince) }]),
      ),
    );
    server.clock.advance(days(200));
    const build = { version: '9.4.0', fileKind: 'msi', rolloutPercentage: 50 } as const;
    const release = await makeRelease(server, { ...build, platform: 'win32' });
    for (let day = 1; day <= 9; day++) {
      server.clock.advance(days(1));
      await asks(asksDaily, day);
    }
    for (const check of [1, 2, 3]) await asks(asksSince, check);
    await takes(release, [asksDaily, asksSince].map(hashOf), server.clock.now());
    server.clock.advance(days(3));
    expect((await stateOf(release)).figures.silence).toMatchObject({ taken: 1, silent: 1 });
    server.clock.advance(days(30));
    expect((await stateOf(release)).figures.silence).toMatchObject({ taken: 1, silent: 1 });
  });

  test('are not virtual desktops that live for an hour', async () => {
    const healthy = { taken: 0, others: 0 };
    const release = await fleet({ version: '9.3.0', platform: 'darwin', fileKind: 'dmg' }, healthy);
    const at = new Date(server.clock.now().getTime() - days(4));
    const end = new Date(at.getTime() + hours(1));
    const desktops = Array.from({ length: 20 }, (_, n) => hashOf(`${release.id} desktop ${n}`));
    await server.db
      .insertInto('machines')
      .values(
        desktops.map((machine_hash) => ({
          machine_hash,
          display_id: machine_hash.toString('hex').slice(0, 16).toUpperCase(),
          platform: 'darwin',
          architecture: 'x64',
          first_seen: at,
          last_seen: end,
          total_checks: 3,
        })),
      )
      .execute();
    await takes(release, desktops, at);
    expect(await stateOf(release)).toMatchObject({
      verdict: 'QUIET',
      figures: { silence: { taken: 100, silent: 0 } },
    });
  });

  test('of months whose checks are no longer kept count in neither sample', async () => {
    const release = await fleet(
      { version: '9.5.0', platform: 'darwin', fileKind: 'zip' },
      { taken: 60, others: 120 },
    );
    expect((await stateOf(release)).figures.silence).toMatchObject({ taken: 100, others: 200 });
    const { context } = server;
    await rotateEvents(context, checkedTime(server));
    server.clock.advance(days(35));
    await rotateEvents(
      { ...context, config: { ...context.config, eventsKeepMs: days(1) } },
      checkedTime(server),
    );
    expect(await stateOf(release)).toMatchObject({
      verdict: 'QUIET',
      figures: { silence: null },
    });
    // those that its first step reached, and that check so rarely that they take it only now
    await fleetOf(release, lost, 'rarely in use');
    expect((await stateOf(release)).verdict).toBe('QUIET');
    await setRollout(release, 60);
    await fleetOf(release, lost, 'after the step');
    expect(await stateOf(release)).toMatchObject({
      verdict: 'SILENT',
      figures: { silence: { taken: 100, others: 200 } },
    });
  });
});
