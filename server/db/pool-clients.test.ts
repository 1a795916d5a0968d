import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../tests/harness.ts';
import { createDb, createPool, type Db } from './client.ts';
import { everyday } from './limits.ts';
import { readOnly } from './read-only.ts';

const { url } = await createTestDatabase();

const lockTimeout = async (db: Db) => {
  const { rows } = await sql<{ limit: string }>`select current_setting('lock_timeout') as limit`.execute(db);
  return rows;
};

const newCustomer = () => {
  const now = new Date();
  return { customer_id: uuidv7(), name: 'Clinic', country: 'DE', created_at: now, updated_at: now };
};

describe.each([
  ['of our own', false],
  ['of a pooler', true],
])('connections %s', (_, isShared) => {
  const pool = createPool(url, 2, everyday, { isShared });
  const db = createDb(pool);
  afterAll(() => pool.end());

  test('a change waits briefly for a lock, and a snapshot as long as any call', async () => {
    expect(await db.transaction().execute(lockTimeout)).toEqual([{ limit: '300ms' }]);
    expect(await readOnly(db, lockTimeout)).toEqual([{ limit: '3s' }]);
  });

  test(`an insert is ${isShared ? 'no' : 'a'} named statement, and others are none`, async () => {
    const kept = await db.transaction().execute(async (tx) => {
      await tx.insertInto('customers').values(newCustomer()).execute();
      await tx.selectFrom('customers').select('name').where('name', '=', 'Clinic').execute();
      return sql`select from pg_prepared_statements where statement like 'insert into "customers"%'
        or statement like '%select "name"%'`.execute(tx);
    });
    expect(kept.rows.length).toBe(isShared ? 0 : 1);
  });

  test('an insert that returns the row goes on when the next version adds a column', async () => {
    const add = () => db.insertInto('customers').values(newCustomer()).returningAll().execute();
    await add();
    await sql.raw(`alter table customers add column ${isShared ? 'one' : 'other'} integer`).execute(db);
    expect(await add()).toHaveLength(1);
  });
});
