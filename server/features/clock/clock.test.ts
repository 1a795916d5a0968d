import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { clock as calls } from '../../../contract/clock.ts';
import { releases } from '../../../contract/releases.ts';
import { makeRelease } from '../../../tests/factories.ts';
import {
  days,
  eventually,
  hours,
  movableClock,
  startTestServer,
  type TestServer,
} from '../../../tests/harness.ts';
import { entriesOf } from '../../../tests/rows.ts';
import { startJobs } from '../../jobs/jobs.ts';
import { systemChange } from '../../change.ts';
import { checkClock, isJump } from '../../checked-time.ts';

const migration = join(import.meta.dirname, '../../db/migrations/0023_newest_moment.sql');

let server: TestServer;
let said: string[];
beforeEach(async () => {
  said = [];
  server = await startTestServer({
    config: { logLevel: 'info' },
    onLog: (line) => said.push(line),
  });
});

/** Runs every job once, as a start does, and waits for them. */
async function runJobs(on = server): Promise<void> {
  const jobs = startJobs(on.context, on.audit);
  await jobs.stop();
}

async function releaseInBin(): Promise<string> {
  const { id } = await makeRelease(server);
  const api = server.api(await server.signInAs('admin'));
  await api.ok(releases.softDelete, { params: { releaseId: id }, body: { reason: 'Old' } });
  return id;
}

const isThere = async (id: string) =>
  (await server.db.selectFrom('releases').select('release_id').where('release_id', '=', id).execute())
    .length > 0;
const newest = async () => (await server.db.selectFrom('newest_moment').select('at').executeTakeFirst())?.at;
const jumpInMetrics = async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^lanyard_clock_jump_seconds (\S+)$/m.exec(text)?.[1]);
};

const check = () => systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));

describe('a clock that is far from what the database has seen', () => {
  test('empties no bin at a start, until a person confirms it, with an entry', async () => {
    const id = await releaseInBin();
    await runJobs();
    const before = server.clock.now();
    expect(await newest()).toEqual(before);
    server.clock.advance(days(31));
    await runJobs();
    expect(await isThere(id)).toBe(true);
    expect(await newest()).toEqual(before);
    expect(said.filter((line) => line.includes('Nothing is deleted for good'))).toHaveLength(1);
    expect(await jumpInMetrics()).toBe(31 * 86_400);

    const api = server.api(await server.signInAs('admin'));
    const state = await api.ok(calls.state);
    expect(state).toEqual({
      now: server.clock.now().toISOString(),
      newest: before.toISOString(),
      releasesDue: 1,
    });
    expect(await api.ok(calls.confirm, { body: { now: state.now } })).toEqual({
      now: state.now,
      newest: null,
      releasesDue: 0,
    });
    expect(await jumpInMetrics()).toBe(0);
    await runJobs();
    await eventually(async () => expect(await isThere(id)).toBe(false));
    const entries = await entriesOf(server, 'clock.confirmed');
    expect(entries.map((entry) => entry.changes_summary)).toEqual([
      `Clock: confirmed that ${state.now} is right; the database had last seen ${before.toISOString()}`,
    ]);
  });

  test('also when it is behind, and goes on by itself when it is set right', async () => {
    await runJobs();
    const right = server.clock.now();
    server.clock.advance(-days(2));
    expect(isJump(await check())).toBe(true);
    server.clock.set(right);
    expect(isJump(await check())).toBe(false);
    server.clock.advance(days(1));
    expect(isJump(await check())).toBe(false);
    expect(await newest()).toEqual(server.clock.now());
    server.clock.advance(-hours(23));
    expect(isJump(await check())).toBe(false);
    expect(await newest()).not.toEqual(server.clock.now());
  });

  test('lets nobody clean up the audit log by hand either', async () => {
    await runJobs();
    server.clock.advance(days(2));
    const answer = await server.api(await server.signInAs('admin')).call(audit.cleanup);
    expect([answer.status, answer.body.error]).toEqual([
      409,
      expect.stringContaining('Nothing is deleted for good'),
    ]);
  });

  test('is confirmed only as the time that the person saw, and once', async () => {
    await runJobs();
    const api = server.api((await server.signInAs('admin')).byCookie);
    const confirm = (now: Date) => api.call(calls.confirm, { body: { now: now.toISOString() } });
    const before = server.clock.now();
    expect((await confirm(before)).body.data).toEqual({
      now: before.toISOString(),
      newest: null,
      releasesDue: 0,
    });
    server.clock.advance(days(400));
    const refused = await confirm(before);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining('not the time that you confirm'),
    ]);
    expect(await newest()).toEqual(before);
    expect((await confirm(server.clock.now())).status).toBe(200);
    expect((await confirm(server.clock.now())).status).toBe(200);
    const entries = server.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('event_type', '=', 'clock.confirmed');
    expect(await entries.execute()).toHaveLength(1);
  });

  test('holds back the process that has it, and no other', async () => {
    const id = await releaseInBin();
    await runJobs();
    const wrong = await startTestServer({
      database: server.database,
      clock: movableClock(new Date(server.clock.now().getTime() + days(40))),
    });
    await runJobs(wrong);
    expect(await isThere(id)).toBe(true);
    expect(isJump(await check())).toBe(false);
  });
});

test('an older database, which compared no clocks, begins with the newest time in its records', async () => {
  await server.signInAs('admin');
  const { rows } = await server.pool.query<{ at: Date }>(
    `select greatest((select max(timestamp) from audit_entries), (select max(last_seen_at) from sessions)) as at`,
  );
  await server.pool.query('drop table newest_moment');
  await server.pool.query(await readFile(migration, 'utf8'));
  expect(await newest()).toEqual(rows[0]!.at);
});
