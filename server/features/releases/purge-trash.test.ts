import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { releases as calls } from '../../../contract/releases.ts';
import { makeRelease } from '../../../tests/factories.ts';
import {
  auditOf,
  days,
  eventually,
  startTestServer,
  startTwin,
  type TestServer,
  checkedTime,
} from '../../../tests/harness.ts';
import { releaseRow } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import { locks } from '../../db/locks.ts';
import { purgeTrash } from './release-trash.ts';

const server = await startTestServer();

async function trashRelease(on: TestServer): Promise<{ id: string; key: string }> {
  const { id } = await makeRelease(on);
  const api = on.api(await on.signInAs('admin'));
  await api.ok(calls.softDelete, { params: { releaseId: id }, body: { reason: 'Old' } });
  const { storage_key } = await releaseRow(on, { id });
  return { id, key: storage_key! };
}

const exists = async (id: string) =>
  (await server.db.selectFrom('releases').select('release_id').where('release_id', '=', id).execute())
    .length > 0;
const isStored = async (key: string) => (await server.context.storage.sizeOf(key)) !== undefined;

test('what lay in the bin for 30 days goes with its binary, and the audit log says so as the system', async () => {
  const live = await makeRelease(server);
  const old = await trashRelease(server);
  server.clock.advance(1);
  const younger = await trashRelease(server);
  server.clock.advance(days(30) - 2);
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(0);
  server.clock.advance(1);
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(1);
  expect([await exists(old.id), await isStored(old.key)]).toEqual([false, false]);
  expect([await exists(younger.id), await isStored(younger.key)]).toEqual([true, true]);
  expect(await exists(live.id)).toBe(true);
  const entry = (await auditOf(server, old.id)).at(-1)!;
  expect(entry).toMatchObject({ event_type: 'release.purged', user_id: null, user_email: 'system' });
  expect(entry.changes_summary).toMatch(/: permanently deleted after 30 days in the recycle bin$/);
  expect(entry.timestamp).toEqual(server.clock.now());
  server.clock.advance(days(1));
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(1);
  expect(await exists(live.id)).toBe(true);
});

test('what a clock that was set back moved to the bin lies there for 30 days of the right one', async () => {
  await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
  server.clock.advance(-days(31));
  const { id } = await trashRelease(server);
  server.clock.advance(days(31));
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(0);
  server.clock.advance(days(30));
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(1);
  expect(await exists(id)).toBe(false);
});

test('many processes at once remove each release once', async () => {
  const twin = await startTwin(server);
  const made: { id: string; key: string }[] = [];
  for (let n = 0; n < 12; n++) made.push(await trashRelease(server));
  server.clock.advance(days(30));
  const contexts = [server.context, twin.context, server.context, twin.context];
  await eventually(async () => {
    await Promise.all(contexts.map((context) => purgeTrash(context, checkedTime(server))));
    for (const { id } of made) if (await exists(id)) return false;
    return true;
  });
  for (const { id } of made) {
    const purged = (await auditOf(server, id)).filter((e) => e.event_type === 'release.purged');
    expect(purged).toHaveLength(1);
  }
});

test('one that cannot be removed holds up no other', async () => {
  const [stuck, other] = [await trashRelease(server), await trashRelease(server)];
  server.clock.advance(days(30));
  await server.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before delete on releases for each row
      when (old.release_id = '${stuck.id}') execute function refuse()`);
  await expect(purgeTrash(server.context, checkedTime(server))).rejects.toThrow('refused');
  expect([await exists(stuck.id), await exists(other.id)]).toEqual([true, false]);
  await server.pool.query('drop trigger refuse on releases');
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(1);
});

test('while another process is at it, nothing is done here', async () => {
  const { id } = await trashRelease(server);
  server.clock.advance(days(30));
  await server.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${locks.trashPurge})`.execute(tx);
    expect(await purgeTrash(server.context, checkedTime(server))).toBeUndefined();
  });
  expect(await exists(id)).toBe(true);
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(1);
});

test('one that is being restored at that moment is left alone', async () => {
  const { id } = await trashRelease(server);
  server.clock.advance(days(30));
  await server.db.transaction().execute(async (tx) => {
    await tx.updateTable('releases').set({ deleted_at: null }).where('release_id', '=', id).execute();
    expect(await purgeTrash(server.context, checkedTime(server))).toBe(0);
  });
  expect(await purgeTrash(server.context, checkedTime(server))).toBe(0);
  expect(await exists(id)).toBe(true);
});
