import { expect, test } from 'vitest';
import { account as calls } from '../../../contract/account.ts';
import { rbac } from '../../../contract/users.ts';
import { auditOf, minutes, password, startTestServer } from '../../../tests/harness.ts';
import { codeOf } from '../../../tests/session-room.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';

const server = await startTestServer();

test('one’s own second factor: whether there is one, how many recovery codes are left, which role requires it', async () => {
  const person = await server.signInAs('viewer');
  const api = server.api(person);
  const admin = server.api(await server.signInAs('super_admin'));
  expect(await api.ok(calls.secondFactor)).toEqual({ active: false, recoveryCodesLeft: 0, requiredBy: null });

  const { secret } = await api.ok(calls.enrollSecondFactor, { body: { currentPassword: password } });
  expect((await api.ok(calls.secondFactor)).active).toBe(false);
  const viewer = (await admin.ok(rbac.roles)).find(({ roleId }) => roleId === 'viewer')!;
  const { description, permissions } = viewer;
  const body = { description, permissions, requiresSecondFactor: true };
  await admin.ok(rbac.updateRole, { params: { roleId: 'viewer' }, body });
  // Whoever may do nothing else for lack of a second factor must be told about it.
  expect(await api.ok(calls.secondFactor)).toEqual({
    active: false,
    recoveryCodesLeft: 0,
    requiredBy: 'viewer',
  });

  await api.ok(calls.confirmSecondFactor, { body: { code: codeOf(server, secret) } });
  const set = { active: true, recoveryCodesLeft: 10 };
  expect(await api.ok(calls.secondFactor)).toEqual({ ...set, requiredBy: 'viewer' });
  await admin.ok(rbac.revokeRole, { params: { userId: person.userId, roleId: 'viewer' } });
  expect(await api.ok(calls.secondFactor), 'without any role').toEqual({ ...set, requiredBy: null });
});

test('whose confirmation had no answer gives the same recovery codes to the same request', async () => {
  const person = await server.signInAs('viewer');
  const api = server.api(person);
  const { secret } = await api.ok(calls.enrollSecondFactor, { body: { currentPassword: password } });
  const body = { code: codeOf(server, secret) };
  const confirm = () => api.call(calls.confirmSecondFactor, { body }, { 'idempotency-key': 'lost' });
  const first = await confirm();
  const again = await confirm();
  expect([again.status, again.body.data]).toEqual([200, first.body.data]);
  const events = (await auditOf(server, person.userId)).map((entry) => entry.event_type);
  expect(events.slice(1)).toEqual(['user.second_factor_begun', 'user.second_factor_set']);
  const stored = await server.db.selectFrom('idempotency_keys').select('answer').execute();
  for (const code of first.body.data.recoveryCodes) expect(JSON.stringify(stored)).not.toContain(code);
});

test('is one of one app: confirmed once, never replaced, and by no code of an app before', async () => {
  const person = await server.signInAs('license_manager');
  const [api, holder] = [server.api(person), await openHolder(server)];
  const body = { currentPassword: password };
  const enroll = () => api.call(calls.enrollSecondFactor, { body });
  const { secret: old } = (await enroll()).body.data;
  const confirm = (secret: string) =>
    api.call(calls.confirmSecondFactor, { body: { code: codeOf(server, secret) } });
  const none = await api.call(calls.removeSecondFactor, { body });
  expect(none.body).toMatchObject({ error: 'There is no second factor.' });
  const late = await holder.whileWaiting(
    ['select from users where user_id = $1 for update', person.userId],
    () => confirm(old),
    () => holder.query("update users set totp_secret = 'of another app' where user_id = $1", person.userId),
  );
  expect(late.body).toMatchObject({ error: 'No second factor is being set up.' });

  const { secret } = (await enroll()).body.data;
  const answers = await Promise.all([confirm(secret), confirm(secret)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect((await enroll()).body).toMatchObject({ code: 'WRONG_STATE' });
  expect(await api.ok(calls.secondFactor)).toMatchObject({ active: true, recoveryCodesLeft: 10 });
});

test('being set up is confirmed by no guessing: wrong codes count like wrong passwords', async () => {
  const api = server.api((await server.signInAs('viewer')).byCookie);
  const { secret } = await api.ok(calls.enrollSecondFactor, { body: { currentPassword: password } });
  const confirm = (code: string) => api.call(calls.confirmSecondFactor, { body: { code } });
  const wrong = String((Number(codeOf(server, secret)) + 1) % 1_000_000).padStart(6, '0');
  for (let n = 0; n < 10; n++) expect((await confirm(wrong)).status).toBe(422);
  const refused = [await confirm(wrong), await confirm(codeOf(server, secret))];
  for (const { status, body } of refused)
    expect([status, body.error]).toEqual([
      429,
      'Too many wrong passwords or codes. Wait a few minutes and try again.',
    ]);
  expect((await api.ok(calls.secondFactor)).active).toBe(false);
  server.clock.advance(minutes(15));
  expect((await confirm(codeOf(server, secret))).status).toBe(200);
});
