import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { days, startTestServer, checkedTime } from '../../../tests/harness.ts';
import { rotateEvents } from './rotate-events.ts';

const server = await startTestServer();

async function happen(at: string): Promise<void> {
  await sql`
    insert into update_events (event_id, occurred_at, machine_hash, event_type, success)
    values (${uuidv7()}, ${at}, '\\x00', 'check', true)`.execute(server.db);
}

/** Events by the partition that they lie in. */
async function lying(): Promise<Record<string, number>> {
  const { rows } = await sql<{ place: string; count: number }>`
    select tableoid::regclass::text as place, count(*) as count from update_events group by 1 order by 1`.execute(
    server.db,
  );
  return Object.fromEntries(rows.map((row) => [row.place, row.count]));
}

describe('the partitions of update events', () => {
  test('are made ahead, and take over what came before them', async () => {
    server.clock.set('2026-11-20T09:30:00Z');
    await happen('2026-11-02T00:00:00Z');
    await happen('2027-01-31T23:59:59.999Z');
    await happen('2025-10-31T00:00:00Z');
    expect(await lying()).toEqual({ update_events_other: 3 });
    expect((await rotateEvents(server.context, checkedTime(server)))?.made).toEqual([
      'update_events_2026_11',
      'update_events_2026_12',
      'update_events_2027_01',
    ]);
    expect(await lying()).toEqual({
      update_events_2026_11: 1,
      update_events_2027_01: 1,
      update_events_other: 1,
    });
    await happen('2026-12-01T00:00:00Z');
    expect((await lying()).update_events_2026_12).toBe(1);
    expect(await rotateEvents(server.context, checkedTime(server))).toEqual({ made: [], dropped: [] });
  });

  test('keep the index of the machine page', async () => {
    const { rows } = await sql<{ indexdef: string }>`
      select indexdef from pg_indexes where tablename = 'update_events_2026_12'`.execute(server.db);
    expect(rows.map((row) => row.indexdef).join()).toContain('(machine_hash, occurred_at DESC)');
  });

  test('are dropped when all in them is older than the policy', async () => {
    server.clock.set('2027-12-31T00:00:00Z');
    const { dropped } = (await rotateEvents(server.context, checkedTime(server)))!;
    expect(dropped).toEqual([]);
    expect(await lying()).not.toHaveProperty('update_events_other');
    server.clock.set('2028-01-06T00:00:00Z');
    expect((await rotateEvents(server.context, checkedTime(server)))?.dropped).toEqual([
      'update_events_2026_11',
    ]);
    expect(await lying()).toEqual({ update_events_2026_12: 1, update_events_2027_01: 1 });
  });

  test('are rotated by one process at a time', async () => {
    server.clock.set('2030-01-01T00:00:00Z');
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(() => rotateEvents(server.context, checkedTime(server))),
    );
    expect(outcomes.filter((done) => done?.made.length === 3)).toHaveLength(1);
    expect(outcomes.filter((done) => !done?.made.length)).toHaveLength(3);
  });
});

test('ids of reports are forgotten after a week', async () => {
  server.clock.set('2031-03-10T00:00:00Z');
  for (const age of [days(6), days(8)]) {
    await server.db
      .insertInto('update_event_ids')
      .values({ event_id: uuidv7(), seen_at: new Date(server.clock.now().getTime() - age) })
      .execute();
  }
  // as when there are too many to be removed at once
  await server.pool.query(`
    create function late() returns trigger language plpgsql as $$ begin raise query_canceled; end $$;
    create trigger late before delete on update_event_ids execute function late()`);
  await expect(rotateEvents(server.context, checkedTime(server))).rejects.toThrow();
  await happen('2031-05-31T00:00:00Z');
  expect(await lying()).toMatchObject({ update_events_2031_05: 1 });
  await server.pool.query('drop trigger late on update_event_ids');
  await rotateEvents(server.context, checkedTime(server));
  expect(await server.db.selectFrom('update_event_ids').selectAll().execute()).toHaveLength(1);
});
