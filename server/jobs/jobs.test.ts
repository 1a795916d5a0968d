import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { releases as calls } from '../../contract/releases.ts';
import { makeCustomer, makeRelease } from '../../tests/factories.ts';
import {
  days,
  eventually,
  hours,
  isExplainedByLoad,
  minutes,
  startTestServer,
  checkedTime,
} from '../../tests/harness.ts';
import { openHolder } from '../../tests/waiting-calls.ts';
import { locks } from '../db/locks.ts';
import { rotateEvents } from '../features/update-events/rotate-events.ts';
import { startAuditSealer } from './audit-sealer.ts';
import { startJobs } from './jobs.ts';
import { sweepUploads } from './upload-sweep.ts';

const server = await startTestServer();

test('no two jobs wait for each other', async () => {
  expect(new Set(Object.values(locks)).size).toBe(Object.keys(locks).length);
  await server.db.transaction().execute(async (tx) => {
    for (const lock of [locks.uploadSweep, locks.trashPurge, locks.housekeeping])
      await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
    expect((await rotateEvents(server.context, checkedTime(server)))?.made).toHaveLength(3);
    expect(await sweepUploads(server.context, checkedTime(server))).toBeUndefined();
  });
});

test('what is due at the start is done at once', async () => {
  const { id } = await makeRelease(server);
  const api = server.api(await server.signInAs('admin'));
  await api.ok(calls.softDelete, { params: { releaseId: id }, body: { reason: 'Old' } });
  server.clock.advance(days(30));
  await server.db
    .insertInto('login_failures')
    .values({ subject: 'ip:192.0.2.1', window_start: new Date('2020-01-01'), failures: 1 })
    .execute();
  const jobs = startJobs(server.context, server.audit);
  await eventually(async () => {
    const releases = await server.db.selectFrom('releases').select('release_id').execute();
    const failures = await server.db.selectFrom('login_failures').selectAll().execute();
    return releases.length === 0 && failures.length === 0;
  });
  await jobs.stop();
});

test('a stop while jobs are under way has nothing to warn of', async () => {
  for (let round = 0; round < 3; round++) {
    const said: string[] = [];
    const own = await startTestServer({ config: { logLevel: 'warn' }, onLog: (line) => said.push(line) });
    const jobs = startJobs(own.context, own.audit);
    await sleep(round * 20);
    await jobs.stop();
    await own.close();
    await sleep(100);
    expect(said.filter((line) => !isExplainedByLoad(line))).toEqual([]);
  }
});

test('a stop does not wait for a seal whose lock a lost connection still holds', async () => {
  const holder = await openHolder(server);
  await holder.query('select pg_advisory_lock($1)', locks.auditHead);
  const sealer = startAuditSealer(server.context, server.audit);
  await makeCustomer(server.api(await server.signInAs('admin')));
  await eventually(
    async () =>
      (
        await server.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
        )
      ).rowCount !== 0,
  );
  await sealer.stop();
  await holder.query('select pg_advisory_unlock($1)', locks.auditHead);
});

/** The next run of that job, which does not come by itself. */
function nextRun(of: string) {
  const next = { inMs: 0, run: () => {} };
  // of this job alone: connections need the timers that they set
  const original = setTimeout;
  const spied = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    run: (...args: unknown[]) => void,
    ms: number,
    ...args: { name?: string }[]
  ) => {
    if (args[0]?.name !== of) return original(run, ms, ...args);
    Object.assign(next, { inMs: ms, run: () => run(...args) });
    return original(() => {}, 0);
  }) as typeof setTimeout);
  onTestFinished(() => spied.mockRestore());
  return next;
}

test('a daily job that failed is tried again half an hour later', async () => {
  const said: string[] = [];
  const own = await startTestServer({ config: { logLevel: 'error' }, onLog: (line) => said.push(line) });
  own.context.config.databaseLimitFactor = 1;
  const next = nextRun('audit retention');
  const backup = await own.pool.connect();
  await backup.query('select pg_advisory_lock($1)', [locks.auditCleanup]);
  const jobs = startJobs(own.context, own.audit);
  const due = () => own.context.jobsDue.get('audit retention')!.getTime() - own.clock.now().getTime();
  await eventually(() => next.inMs === minutes(30));
  expect(said.some((line) => line.includes('The audit log was not cleaned up'))).toBe(true);
  expect(due()).toBe(0);
  await backup.query('select pg_advisory_unlock_all()');
  backup.release();
  next.run();
  await eventually(() => due() === days(1));
  await jobs.stop();
});

test('a job whose lock is held tries again within two minutes, and not when others do', async () => {
  const own = await startTestServer({ config: { logLevel: 'silent' } });
  const next = nextRun('bin purge');
  const other = await own.pool.connect();
  await other.query('select pg_advisory_lock($1)', [locks.trashPurge]);
  const jobs = startJobs(own.context, own.audit);
  const waited = new Set<number>();
  for (let tries = 1; tries <= 3; tries++) {
    await eventually(() => next.inMs > 0);
    waited.add(next.inMs);
    next.inMs = 0;
    next.run();
  }
  expect(waited.size).toBe(3);
  expect(Math.min(...waited)).toBeGreaterThanOrEqual(minutes(1));
  expect(Math.max(...waited)).toBeLessThan(minutes(2));
  await other.query('select pg_advisory_unlock_all()');
  other.release();
  await jobs.stop();
});

test('a job that waits for a backup is not late', async () => {
  const own = await startTestServer({ config: { logLevel: 'silent' } });
  const next = nextRun('bin purge');
  const backup = await own.pool.connect();
  await backup.query('select pg_advisory_lock($1)', [locks.trashPurge]);
  await backup.query(`set application_name = 'lanyard backup'`);
  const jobs = startJobs(own.context, own.audit);
  await eventually(() => next.inMs > 0);
  expect(next.inMs).toBeLessThan(minutes(2));
  expect(own.context.jobsDue.get('bin purge')!.getTime() - own.clock.now().getTime()).toBe(hours(1));
  await backup.query('reset application_name; select pg_advisory_unlock_all()');
  backup.release();
  await jobs.stop();
});

test('the file check reads on until all is compared, and is not late meanwhile', async () => {
  const own = await startTestServer({ config: { logLevel: 'silent' } });
  for (let n = 0; n < 3; n++) await makeRelease(own);
  own.clock.advance(days(1));
  const due = () => own.context.jobsDue.get('file check')!.getTime() - own.clock.now().getTime();
  const { storage } = own.context;
  const seen: number[] = [];
  const read: typeof storage.read = (...of) => {
    seen.push(due());
    own.clock.advance(minutes(50));
    return storage.read(...of);
  };
  const jobs = startJobs({ ...own.context, storage: { ...storage, read } }, own.audit);
  await eventually(() => seen.length === 3 && due() === minutes(60));
  await jobs.stop();
  expect(seen).toEqual([0, minutes(60), minutes(60)]);
});

test('a job whose lock is held counts as late, as one of whose items fails does', async () => {
  const own = await startTestServer({ config: { logLevel: 'silent' } });
  await makeRelease(own, { rolloutPercentage: 5 });
  // one without a file: while the file check locks a release, the job of withdrawn ones leaves it to the next minute
  const { id } = await makeRelease(own, { externalUrl: 'https://files.test/Setup.exe' });
  await own.pool.query('alter table rollout_steps rename to elsewhere');
  const [held, failing] = [
    ['housekeeping', 'bin purge', 'upload sweep', 'event keeping', 'refusals'],
    ['rollout watch', 'withdrawn releases'],
  ];
  await own.pool.query('update releases set affected_due = now() where release_id = $1', [id]);
  await own.pool.query('alter table withdrawn_machines rename to gone');
  const backup = await own.pool.connect();
  for (const lock of [
    locks.housekeeping,
    locks.trashPurge,
    locks.uploadSweep,
    locks.eventRotation,
    locks.refusalWindows,
  ])
    await backup.query('select pg_advisory_lock($1)', [lock]);
  const begun = own.clock.now();
  const jobs = startJobs(own.context, own.audit);
  const isDone = (name: string) => own.context.jobsDue.get(name)!.getTime() > begun.getTime();
  await eventually(() => ['offline seats', 'rollout steps', 'file check'].every(isDone));
  await jobs.stop();
  expect([...held, ...failing].filter(isDone)).toEqual([]);
  await backup.query('select pg_advisory_unlock_all()');
  backup.release();
});
