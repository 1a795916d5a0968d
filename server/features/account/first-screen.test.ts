import { expect, test } from 'vitest';
import { account as calls } from '../../../contract/account.ts';
import { roleMatrix } from '../../../contract/permissions.ts';
import { screenNames, screens } from '../../../contract/screens.ts';
import { session } from '../../../contract/session.ts';
import { auditOf, startTestServer, startTwin } from '../../../tests/harness.ts';

const server = await startTestServer();

test('the first screen of a person is kept with the account: other sessions and processes know it', async () => {
  const twin = await startTwin(server);
  const { email, userId, byCookie } = await server.signInAs('viewer');
  const [here, there] = [server.api(byCookie), twin.api((await twin.signIn(email, 'viewer')).byCookie)];
  expect((await there.ok(session.me)).firstScreen).toBeNull();
  expect(await here.ok(calls.setFirstScreen, { body: { screen: 'releases' } })).toEqual({
    firstScreen: 'releases',
  });
  expect((await here.ok(session.me)).firstScreen).toBe('releases');
  await expect.poll(async () => (await there.ok(session.me)).firstScreen).toBe('releases');
  const again = await server.signIn(email, 'viewer');
  expect((await server.api(again.byCookie).ok(session.me)).firstScreen).toBe('releases');
  await here.ok(calls.setFirstScreen, { body: { screen: 'releases' } });
  await here.ok(calls.setFirstScreen, { body: { screen: null } });
  expect((await here.ok(session.me)).firstScreen).toBeNull();
  const told = (await auditOf(server, userId)).map((entry) => entry.changes_summary);
  expect(told.filter((what) => what.includes('first screen'))).toEqual([
    `${email}: chose releases as first screen`,
    `${email}: chose the usual first screen`,
  ]);
});

test.each(['binary_manager', 'license_manager', 'viewer'] as const)(
  '%s may choose what they may read, and nothing else',
  async (role) => {
    const api = server.api((await server.signInAs(role)).byCookie);
    for (const screen of screenNames) {
      const resource = screens[screen];
      const may =
        resource === null || roleMatrix[role].some((p) => p.resource === resource && p.action === 'read');
      const { status, body } = await api.call(calls.setFirstScreen, { body: { screen } });
      expect([screen, status]).toEqual([screen, may ? 200 : 422]);
      if (!may) expect(body.error).toContain(`it needs ${resource}:read`);
    }
  },
);

test('a choice that is no longer permitted stays, and is that again with the permission', async () => {
  const { userId, byCookie } = await server.signInAs('viewer');
  const api = server.api(byCookie);
  await api.ok(calls.setFirstScreen, { body: { screen: 'customers' } });
  const become = async (role_id: string) => {
    await server.db.updateTable('user_roles').set({ role_id }).where('user_id', '=', userId).execute();
    server.context.signals.drop('sessions');
  };
  await become('binary_manager');
  expect((await api.ok(session.me)).firstScreen).toBe('customers');
});
