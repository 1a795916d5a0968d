import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users as calls } from '../../../contract/users.ts';
import { eventually, password, startTestServer, type Session } from '../../../tests/harness.ts';

/* What else may happen to a user while a call about them is under way. */

const server = await startTestServer();
const holder = new pg.Client({ connectionString: server.database.url });
const root = server.api(await server.signInAs('super_admin'));
const admin = server.api(await server.signInAs('admin'));
beforeAll(() => holder.connect());
afterAll(async () => {
  await holder.end();
  await server.close();
});

const chosen = 'chosen by an administrator';

/** Starts a call that waits for a lock which `take` takes, runs `meanwhile`, and lets the call go on. */
async function whileWaiting<T>(
  take: () => Promise<unknown>,
  call: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  await holder.query('begin');
  await take();
  const answer = call();
  await eventually(async () => {
    const { rowCount } = await server.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  });
  await meanwhile();
  await holder.query('commit');
  return answer;
}

const hold =
  (statement: string, ...values: unknown[]) =>
  () =>
    holder.query(statement, values);
const holdUser = (id: string) => hold('select from users where user_id = $1 for update', id);

const login = (email: string, plain: string) =>
  server.api().call(sessionCalls.login, { body: { email, password: plain } });

describe('a password that an administrator resets', () => {
  /** Makes the call, which comes to its transaction only after the reset. */
  const afterReset = <T>(person: Session, call: (headers: Record<string, string>) => Promise<T>) =>
    whileWaiting(
      hold(
        `insert into idempotency_keys (actor, key, request_hash, created_at) values ($1, 'kept', '', now())`,
        person.userId,
      ),
      () => call({ 'idempotency-key': 'kept' }),
      async () => {
        const body = { newPassword: chosen, confirmPassword: chosen };
        await root.ok(calls.resetPassword, { params: { id: person.userId }, body });
        await holder.query('delete from idempotency_keys');
      },
    );

  test('is not replaced by a change that was under way, whose session has ended', async () => {
    const person = await server.signInAs('viewer');
    const stolen = 'chosen by a thief';
    const body = { currentPassword: password, newPassword: stolen, confirmPassword: stolen };
    const answer = await afterReset(person, (headers) =>
      server.api(person).call(account.changePassword, { body }, headers),
    );
    expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect((await login(person.email, stolen)).status).toBe(401);
    expect((await login(person.email, chosen)).status).toBe(200);
  });
});

test('who is deactivated while they sign in gets no session that would open with their return', async () => {
  const { userId, email } = await server.createPerson('viewer');
  const answer = await whileWaiting(
    holdUser(userId),
    () => login(email, password),
    hold(`update users set status = 'inactive' where user_id = $1`, userId),
  );
  expect(answer.status).toBe(401);
});

describe('roles that are given one by one', () => {
  test('are known to a change of the user that waited for them', async () => {
    const { userId: id } = await server.createPerson('viewer');
    const answer = await whileWaiting(
      holdUser(id),
      () => admin.call(calls.update, { params: { id }, body: { role: 'license_manager' } }),
      hold(`insert into user_roles (user_id, role_id) values ($1, 'super_admin')`, id),
    );
    expect([answer.status, answer.body.error]).toEqual([
      422,
      expect.stringContaining('may do more than you'),
    ]);
  });

  test.each([rbac.assignRole, rbac.revokeRole])(
    'are not changed by an edit that began before: %#',
    async (route) => {
      const { userId: id } = await server.createPerson('viewer');
      const params = { userId: id, roleId: 'license_manager' };
      if (route === rbac.revokeRole) await root.ok(rbac.assignRole, { params });
      const seen = (await root.ok(calls.list)).find((user) => user.id === id)!;
      await root.ok(route, { params });
      const body = { role: 'binary_manager', updatedAt: seen.updatedAt };
      expect((await root.call(calls.update, { params: { id }, body })).body.code).toBe('EDIT_CONFLICT');
    },
  );
});
