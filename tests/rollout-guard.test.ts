import { describe, expect, test } from 'vitest';
import type { Release } from '../contract/releases.ts';
import { rollouts } from '../contract/rollouts.ts';
import { makeRelease } from './factories.ts';
import { pauseByGuard } from './approving.ts';
import { auditOf, checkedTime, days, hours, startTestServer } from './harness.ts';
import { releaseRow } from './rows.ts';
import { housekeep } from '../server/jobs/housekeeping.ts';
import { pauseFailing } from '../server/features/update-events/failure-guard.ts';
import { guardState, watchRollouts } from '../server/features/update-events/index.ts';
import { guardRoom } from './guard-room.ts';

/* What the guard counts in the database; the statistics are in guard.test.ts. */

const server = await startTestServer();

type Outcome = { failed: boolean; everFailed?: boolean; count: number };

/** Machines that took the release and installed it now. */
function install(release: Release, { failed, everFailed = failed, count }: Outcome) {
  const now = server.clock.now();
  const machines = Array.from({ length: count }, (_, n) =>
    hashOf(`${release.id} ${failed} ${everFailed} ${n}`),
  );
  return takes(release, machines, now, {
    installed_at: now,
    install_failed: failed,
    ever_failed: everFailed,
  });
}

const stateOf = ({ id }: Release) => guardState(server.db, id, server.clock.now());

const { hashOf, takes, set } = guardRoom(server);

describe('the previous full release', () => {
  const platform = 'linux' as const;

  test('is the newest older one of the same build that is offered to all, and not what fails only here', async () => {
    const made = (version: string, more: Parameters<typeof makeRelease>[1] = {}) =>
      makeRelease(server, { version, platform, ...more });
    const older = await made('2.0.0');
    const previous = await made('2.9.0');
    const others = await Promise.all([
      made('2.9.1', { rolloutPercentage: 50 }),
      made('2.9.2', { isDraft: true }),
      made('2.9.3', { channel: 'beta' }),
      made('2.9.4', { architecture: 'arm64' }),
      made('2.9.5', { fileKind: 'deb' }),
      made('2.9.6', { platform: 'win32' }),
      made('2.9.7'),
      made('2.9.8'),
      made('2.10.1'),
    ]);
    await set(others[6], { is_active: false });
    await set(others[7], { deleted_at: server.clock.now() });
    for (const other of [older, ...others]) await install(other, { failed: true, count: 200 });
    await install(previous, { failed: false, count: 985 });
    await install(previous, { failed: true, count: 10 });
    await install(previous, { failed: false, everFailed: true, count: 5 });

    const release = await made('2.10.0');
    await install(release, { failed: false, count: 90 });
    await install(release, { failed: true, count: 3 });
    expect(await stateOf(release)).toMatchObject({
      verdict: 'QUIET',
      figures: {
        failures: {
          installs: 93,
          failed: 3,
          acceptableFrom: 'PREVIOUS',
          previous: { version: '2.9.0', installs: 1000, failed: 15 },
        },
      },
    });
    const build = { version: '2.10.0', channel: 'stable', platform, architecture: 'x64' } as const;
    const viewer = server.api(await server.signInAs('viewer'));
    const compared = (fileKind: string) =>
      viewer.ok(rollouts.failureComparison, { query: { ...build, fileKind } });
    expect(await compared('exe')).toEqual({
      acceptable: expect.closeTo(2.9, 0),
      acceptableFrom: 'PREVIOUS',
      previous: { version: '2.9.0', installs: 1000, failed: 15 },
    });
    expect(await compared('deb')).toMatchObject({
      acceptableFrom: 'PREVIOUS',
      previous: { version: '2.9.5', failed: 200 },
    });
    const fed = await made('2.8.0', { fileKind: 'nupkg' });
    await install(fed, { failed: false, count: 200 });
    // no machine is offered a package on another server
    await made('2.8.1', { fileKind: 'nupkg', sha1: null });
    expect((await compared('nupkg')).previous).toMatchObject({ version: '2.8.0', installs: 200 });
    expect(await compared('rpm')).toEqual({ acceptable: 5, acceptableFrom: 'USUAL', previous: null });
    await install(release, { failed: true, everFailed: false, count: 17 });
    expect(await stateOf(release)).toMatchObject({
      verdict: 'FAILING',
      sentence:
        '20 of 110 installs of 2.10.0 for Linux (x64) failed (18.2 %). ' +
        'Of 2.9.0, the previous full release, 15 of 1,000 failed (1.5 %).',
    });
  });

  test('is not one that was paused or is damaged, which would be the measure for its own fix', async () => {
    const made = (version: string) => makeRelease(server, { version, platform, fileKind: 'rpm' });
    const good = await made('2.0.0');
    await install(good, { failed: false, count: 1000 });
    const paused = await made('2.1.0');
    const damaged = await made('2.1.1');
    for (const bad of [paused, damaged]) {
      await install(bad, { failed: false, count: 70 });
      await install(bad, { failed: true, count: 30 });
    }
    await pauseByGuard(server, paused);
    const now = server.clock.now();
    await server.db
      .updateTable('releases')
      .set({ damaged_at: now })
      .where('release_id', '=', damaged.id)
      .execute();
    const fixed = await made('2.1.2');
    await install(fixed, { failed: false, count: 70 });
    await install(fixed, { failed: true, count: 30 });
    expect(await stateOf(fixed)).toMatchObject({
      verdict: 'FAILING',
      figures: { failures: { previous: { version: '2.0.0' } } },
    });
  });

  test('is none for the first release of a build, which has the usual share', async () => {
    const first = await makeRelease(server, { version: '0.0.1', platform: 'darwin' });
    expect((await stateOf(first)).figures.failures).toMatchObject({
      acceptable: 5,
      acceptableFrom: 'USUAL',
      previous: null,
    });
  });
});

test('installs of before a resume do not count', async () => {
  const release = await makeRelease(server, { acceptableFailures: 1 });
  await install(release, { failed: true, count: 10 });
  expect((await stateOf(release)).verdict).toBe('FAILING');
  server.clock.advance(hours(1));
  await set(release, { failures_from: server.clock.now() });
  expect(await stateOf(release)).toMatchObject({
    verdict: 'QUIET',
    figures: { failures: { installs: 0, failed: 0 } },
  });
});

test('a release whose failures count from a time to come, by a clock that was ahead, is watched again', async () => {
  const release = await makeRelease(server, { rolloutPercentage: 50 });
  const inDays = (n: number) => new Date(server.clock.now().getTime() + days(n));
  await set(release, { failures_from: inDays(30) });
  await housekeep(server.context, checkedTime(server));
  await install(release, { failed: true, count: 60 });
  await watchRollouts(server.context);
  expect((await releaseRow(server, release)).paused_at).toEqual(server.clock.now());
});

test.each([
  ['is for newer versions only', 'rpm', { minimum_app_version: '7.0.0' }],
  ['has a damaged file', 'deb', { damaged_at: server.clock.now() }],
  ['has a package that Squirrel.Windows cannot take', 'nupkg', { sha1: null }],
])('a full release is watched while the newer one %s', async (_, fileKind, columns) => {
  const build = { platform: 'linux', fileKind } as const;
  const taken = await makeRelease(server, { ...build, version: '8.0.0' });
  const newer = await makeRelease(server, { ...build, version: '8.0.1' });
  await set(newer, columns);
  // as where the process that wrote the failures ended before it counted them
  await install(taken, { failed: true, count: 60 });
  await watchRollouts(server.context);
  expect((await releaseRow(server, taken)).paused_at).toEqual(server.clock.now());
});

const impatient = { ...server.context, config: { ...server.context.config, databaseLimitFactor: 1 } };

test('a release that is locked holds up the watch of no other, and is watched the next time', async () => {
  const [replaced, failing] = [
    await makeRelease(server, { platform: 'linux', fileKind: 'rpm', version: '4.0.0' }),
    await makeRelease(server, { rolloutPercentage: 50 }),
  ];
  await makeRelease(server, { platform: 'linux', fileKind: 'rpm', version: '4.0.1' });
  await set(replaced, { failures_claimed_at: server.clock.now() });
  await install(failing, { failed: true, count: 60 });
  const markOf = async () => (await releaseRow(server, replaced)).failures_claimed_at;
  const holder = await server.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from releases where release_id = $1 for update', [replaced.id]);
    await expect(watchRollouts(impatient)).rejects.toThrow();
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect((await releaseRow(server, failing)).paused_at).not.toBeNull();
  expect(await markOf()).not.toBeNull();
  await watchRollouts(server.context);
  expect(await markOf()).toBeNull();
  const entry = (await auditOf(server, replaced.id)).at(-1)!;
  expect([entry.event_type, entry.changes_summary]).toEqual([
    'release.failures_claimed',
    expect.stringContaining('no longer counted'),
  ]);
});

test('a release that is locked holds up the pause of no other one that fails in the same batch', async () => {
  const [locked, failing] = [await makeRelease(server), await makeRelease(server)];
  for (const release of [locked, failing]) await install(release, { failed: true, count: 60 });
  const holder = await server.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from releases where release_id = $1 for update', [locked.id]);
    await expect(pauseFailing(impatient, [failing.id, locked.id])).rejects.toThrow();
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect((await releaseRow(server, failing)).paused_at).toEqual(server.clock.now());
  expect((await releaseRow(server, locked)).paused_at).toBeNull();
});
