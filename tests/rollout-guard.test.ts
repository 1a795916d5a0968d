import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { Release } from '../contract/releases.ts';
import { makeRelease } from './factories.ts';
import { hours, startTestServer } from './harness.ts';
import { guardState } from '../server/features/update-events/index.ts';

/* What the guard counts in the database; the statistics are in guard.test.ts. */

const server = await startTestServer();
afterAll(() => server.close());

const hashOf = (name: string) => createHash('sha256').update(name).digest();

type Outcome = { failed: boolean; everFailed?: boolean; count: number };

/** Machines that were offered the release, fetched it, and installed it now. */
async function install({ id, version }: Release, { failed, everFailed = failed, count }: Outcome) {
  const now = server.clock.now();
  await server.db
    .insertInto('downloads')
    .values(
      Array.from({ length: count }, (_, n) => ({
        download_id: uuidv7(),
        machine_hash: hashOf(`${id} ${failed} ${everFailed} ${n}`),
        release_id: id,
        version,
        started_at: now,
        offered_at: now,
        fetched_at: now,
        installed_at: now,
        install_failed: failed,
        ever_failed: everFailed,
      })),
    )
    .execute();
}

const stateOf = ({ id }: Release) => guardState(server.db, id, server.clock.now());

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
      made('2.10.1'),
    ]);
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
    await install(release, { failed: true, everFailed: false, count: 17 });
    expect(await stateOf(release)).toMatchObject({
      verdict: 'FAILING',
      sentence:
        '20 of 110 installs of 2.10.0 for Linux (x64) failed (18.2 %). ' +
        'Of 2.9.0, the previous full release, 15 of 1,000 failed (1.5 %).',
    });
  });

  test('is none for the first release of a build, which is judged by the usual share', async () => {
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
  await server.db
    .updateTable('releases')
    .set({ failures_from: server.clock.now() })
    .where('release_id', '=', release.id)
    .execute();
  expect(await stateOf(release)).toMatchObject({
    verdict: 'QUIET',
    figures: { failures: { installs: 0, failed: 0 } },
  });
});
