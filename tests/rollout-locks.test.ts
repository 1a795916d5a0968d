import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { releases as calls, type Release } from '../contract/releases.ts';
import { rollouts } from '../contract/rollouts.ts';
import { updateEvents } from '../contract/update-events.ts';
import { stepRollouts } from '../server/features/rollouts/index.ts';
import { watchRollouts } from '../server/features/update-events/index.ts';
import { makeApiKey, makeRelease } from './factories.ts';
import { checkedTime, eventually, hours, numbers, openClient, startTestServer } from './harness.ts';
import { planOf } from './plan-of.ts';

/* Counting the machines of a large rollout takes a while: what may happen to the release meanwhile, and what may not. */

const server = await startTestServer();
const api = server.api((await server.signInAs('binary_manager')).byCookie);
const { url } = server.database;
const [holder, second] = [await openClient(url), await openClient(url)];
beforeEach(() => server.db.updateTable('releases').set({ rollout_plan: null, is_active: false }).execute());

const by = ({ id: releaseId }: Release) => ({ params: { releaseId } });
const get = (release: Release) => api.ok(calls.get, by(release));
const widen = (release: Release) => api.call(rollouts.widen, { ...by(release), body: { percentage: 100 } });
const pause = (release: Release) => api.call(calls.pause, { ...by(release), body: { reason: 'It crashes' } });
const step = () => stepRollouts(server.context, checkedTime(server));

/** A release at 1 % whose step to 100 % is due. */
async function due(): Promise<Release> {
  const draft = await makeRelease(server, { isDraft: true });
  const rolloutPlan = planOf([1, 24], [100]);
  const release = await api.ok(calls.update, { ...by(draft), body: { isDraft: false, rolloutPlan } });
  server.clock.advance(hours(24));
  return release;
}

/** Machines whose install failed, in one statement. */
const failures = ({ id, version }: Release, on: Pick<pg.Client, 'query'> = second) => {
  const at = server.clock.now();
  const hashes = Array.from({ length: 50 }, () => createHash('sha256').update(randomUUID()).digest());
  return on.query(
    `insert into downloads (download_id, machine_hash, release_id, version, started_at, offered_at, fetched_at,
                            installed_at, install_failed)
     select gen_random_uuid(), hash, $1, $2, $3, $3, $3, $3, true from unnest($4::bytea[]) hash`,
    [id, version, at, hashes],
  );
};

/** Runs `work` while another session holds the locks that the statement takes. */
async function whileHeld<T>(on: pg.Client, statement: string, work: () => Promise<T>): Promise<T> {
  await on.query('begin');
  await on.query(statement);
  try {
    return await work();
  } finally {
    await on.query('commit');
  }
}

const isWaiting = (what: string) =>
  eventually(async () => {
    const { rowCount } = await second.query(
      `select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database() and query ilike $1`,
      [`%${what}%`],
    );
    return rowCount !== 0;
  });

/** Nothing can be counted. */
const noCounts = 'lock table downloads in access exclusive mode';
const lockOf = ({ id }: Release) => `select from releases where release_id = '${id}' for update`;

describe.each([
  ['by plan', (release: Release) => step().then(() => get(release))],
  ['by hand', (release: Release) => widen(release)],
])('while machines are counted for a step %s', (_, take) => {
  test('the release is not locked, and after a pause the step is not taken', async () => {
    const release = await due();
    const held = await whileHeld(holder, noCounts, async () => {
      const taken = take(release);
      await isWaiting('from downloads');
      await second.query(`${lockOf(release)} nowait`);
      return { taken, paused: await pause(release) };
    });
    expect(held.paused.status, held.paused.text).toBe(200);
    await held.taken;
    expect(await get(release)).toMatchObject({ rolloutPercentage: 1, pausedBy: expect.any(String) });
  });

  test('a pause that ends again does not let the step use the older count', async () => {
    const release = await due();
    const held = await whileHeld(holder, lockOf(release), async () => {
      const taken = take(release);
      await isWaiting('for update of "r"');
      await failures(release, holder);
      await holder.query(
        `update releases set updated_at = updated_at + interval '1 second' where release_id = $1`,
        [release.id],
      );
      return { taken };
    });
    const answer = await held.taken;
    expect((await get(release)).rolloutPercentage).toBe(1);
    if ('status' in answer)
      expect(answer.body.error).toBe('The release was changed while its machines were counted. Try again.');
  });
});

test('a newer rollout that is published while machines are counted keeps the step from being taken', async () => {
  const [release, newer] = [await due(), await makeRelease(server, { isDraft: true })];
  const held = await whileHeld(holder, noCounts, async () => {
    const taken = step();
    await isWaiting('from downloads');
    await api.ok(calls.update, { ...by(newer), body: { isDraft: false, rolloutPercentage: 5 } });
    return { taken };
  });
  expect(await held.taken).toBe(0);
  expect((await get(release)).rolloutPercentage).toBe(1);
});

test('a step and a pause at once end in a pause', async () => {
  for (let round = 0; round < 5; round++) {
    const release = await due();
    const [, , paused] = await Promise.all([step(), widen(release), pause(release)]);
    expect(paused.status, paused.text).toBe(200);
    expect((await get(release)).pausedAt).not.toBeNull();
    const { rolloutPercentage } = await get(release);
    expect((await widen(release)).status).toBe(409);
    expect([await step(), (await get(release)).rolloutPercentage]).toEqual([0, rolloutPercentage]);
  }
});

test('no step is taken while reports wait that the database did not take; then the guard sees them', async () => {
  const release = await due();
  const staff = server.api(await server.signInAs('super_admin'));
  const desktop = server.api(await makeApiKey(staff, { scopes: ['updates'] }));
  const names = numbers(50).map((n) => `${release.id} ${n}`);
  await second.query(
    `insert into downloads (download_id, machine_hash, release_id, version, started_at, offered_at, fetched_at)
     select gen_random_uuid(), sha256(name::bytea), $1, $2, $3, $3, $3 from unnest($4::text[]) name`,
    [release.id, release.version, server.clock.now(), names],
  );
  await second.query(`create function disk_full() returns trigger language plpgsql as
    $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$`);
  await second.query(
    'create trigger disk_full before insert on downloads for each statement execute function disk_full()',
  );
  const events = names.map((machineId) => ({
    eventId: randomUUID(),
    machineId,
    eventType: 'install_error' as const,
    toVersion: release.version,
    releaseId: release.id,
  }));
  await desktop.ok(updateEvents.report, { body: { events } });
  await eventually(() => server.context.reportsWait());
  expect((await widen(release)).body.code).toBe('WRONG_STATE');
  expect(await api.ok(rollouts.progress, by(release))).toMatchObject({ reportsWait: true });
  expect([await step(), (await get(release)).rolloutPercentage]).toEqual([0, 1]);
  await second.query('drop trigger disk_full on downloads');
  await eventually(async () => expect((await get(release)).pauseReason).toContain('50 of 50'));
  expect([await step(), (await get(release)).rolloutPercentage]).toEqual([0, 1]);
});

test('no step is taken while the journal holds reports of another process', async () => {
  const release = await due();
  const journal = join(server.context.config.dataDir, 'journal');
  await mkdir(journal, { recursive: true });
  await whileHeld(holder, 'lock table update_event_ids in exclusive mode', async () => {
    await writeFile(join(journal, `update-events-${randomUUID()}.json`), '[]');
    expect((await widen(release)).body.code).toBe('WRONG_STATE');
    expect([await step(), (await get(release)).rolloutPercentage]).toEqual([0, 1]);
  });
  await eventually(async () => (await step()) === 1);
  expect((await get(release)).rolloutPercentage).toBe(100);
});

describe('the guard', () => {
  test('does not count while it has the release locked', async () => {
    const release = await due();
    await failures(release);
    const held = await whileHeld(holder, lockOf(release), async () => {
      const watched = watchRollouts(server.context);
      await isWaiting('for update of "r"');
      await second.query('begin');
      await second.query(noCounts);
      return { watched };
    });
    try {
      await held.watched;
      expect((await get(release)).pauseReason).toContain('50 of 50');
    } finally {
      await second.query('commit');
    }
  });

  test('counts again after a resume in the meantime: no pause has the numbers of an earlier rollout', async () => {
    const release = await due();
    await failures(release);
    const held = await whileHeld(holder, lockOf(release), async () => {
      const watched = watchRollouts(server.context);
      await isWaiting('for update of "r"');
      await holder.query(
        `update releases set updated_at = updated_at + interval '1 second', failures_from = $2 where release_id = $1`,
        [release.id, new Date(server.clock.now().getTime() + 1)],
      );
      return { watched };
    });
    await held.watched;
    expect((await get(release)).pausedAt).toBeNull();
  });
});
