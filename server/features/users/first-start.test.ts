import { expect, test } from 'vitest';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import type { Passwords } from '../../passwords.ts';
import { ensureFirstAdmin } from './first-start.ts';

test('processes that start at once on an empty database create one administrator', async () => {
  const server = await startTestServer();
  const passwords = { hash: async (plain: string) => `hash of ${plain}` } as Passwords;
  const told: string[] = [];
  const start = () =>
    ensureFirstAdmin(server.context, passwords, { admin: undefined }, new Date(), async ({ password }) => {
      told.push(password);
    });
  const allWait = async () => {
    const { rowCount } = await server.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === 3;
  };
  // nobody can insert before all three have found no user
  const holder = await openHolder(server);
  await holder.whileWaiting(
    ['lock table users in share mode'],
    () => Promise.all([start(), start(), start()]),
    () => eventually(allWait),
  );
  expect(told).toHaveLength(1);
  expect(await server.db.selectFrom('users').select(['email', 'password_hash']).execute()).toEqual([
    { email: 'admin@localhost', password_hash: `hash of ${told[0]}` },
  ]);
});
