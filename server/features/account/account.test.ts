import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { account as calls } from '../../../contract/account.ts';
import { audit } from '../../../contract/audit.ts';
import { customers } from '../../../contract/customers.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users } from '../../../contract/users.ts';
import { auditOf, days, hours, minutes, password, seconds, startTestServer } from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';
import { addSecondFactor, codeOf } from '../../../tests/session-room.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { closeWindows } from '../audit/index.ts';

const server = await startTestServer({ config: { sessionMaxMs: hours(12) } });

const signIn = (email: string, secret = password, code?: string) =>
  server
    .api({ headers: {} })
    .call(sessionCalls.login, { body: { email, password: secret, ...(code ? { code } : {}) } });

describe('one’s own password', () => {
  const newPassword = 'fresh and long';
  const fresh = { currentPassword: password, newPassword, confirmPassword: newPassword };

  test('is changed with the current one; the other sessions end and this one stays', async () => {
    const { email } = await server.createPerson('viewer');
    const [here, there] = [await signIn(email), await signIn(email)].map(({ body }) =>
      server.api({ headers: { authorization: `Bearer ${body.data.accessToken}` } }),
    );
    expect((await here!.call(calls.changePassword, { body: fresh })).status).toBe(204);
    expect((await there!.call(sessionCalls.me, {})).status).toBe(401);
    expect((await here!.call(sessionCalls.me, {})).status).toBe(200);
    expect((await signIn(email, newPassword)).status).toBe(200);
  });

  test('is changed once by a call that is repeated, which is no wrong guess', async () => {
    const person = await server.signInAs('viewer');
    const once = { 'idempotency-key': 'lost answer' };
    for (let n = 0; n < 2; n++)
      expect((await server.api(person).call(calls.changePassword, { body: fresh }, once)).status).toBe(204);
    const events = (await auditOf(server, person.userId)).map((entry) => entry.event_type);
    expect(events).toEqual(['user.created', 'user.password_changed']);
  });

  test('is not changed by the password that another change replaces meanwhile', async () => {
    const person = await server.signInAs('viewer');
    const holder = await openHolder(server);
    const answer = await holder.whileWaiting(
      ['select from users where user_id = $1 for update', person.userId],
      () => server.api(person).call(calls.changePassword, { body: fresh }),
      () => holder.query("update users set password_hash = 'of theirs' where user_id = $1", person.userId),
    );
    expect(answer.body).toMatchObject({ code: 'WRONG_CREDENTIALS' });
  });

  test('is guessed no more often by the key of a completed change', async () => {
    const person = await server.signInAs('viewer');
    const thief = server.api(await server.signIn(person.email, 'viewer'));
    const key = { 'idempotency-key': '1' };
    const body = { currentPassword: password };
    expect((await server.api(person).call(calls.enrollSecondFactor, { body }, key)).status).toBe(200);
    const answers = [];
    for (let n = 0; n < 12; n++)
      answers.push(
        await thief.call(calls.enrollSecondFactor, { body: { currentPassword: `guess ${n}` } }, key),
      );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([409]));
    // The guesses count: without the key, no more are taken.
    const next = await thief.call(calls.enrollSecondFactor, { body: { currentPassword: 'guess' } });
    expect(next.status).toBe(429);
  });
});

describe('a new password of one’s own', () => {
  test('is held to the rule for all: not the email, not one character, not a common one', async () => {
    const person = await server.signInAs('viewer');
    for (const secret of [person.email, '!!!!!!!!', 'birdland']) {
      const body = { currentPassword: password, newPassword: secret, confirmPassword: secret };
      expect((await server.api(person).call(calls.changePassword, { body })).status, secret).toBe(422);
    }
  });
});

test('the same letters are the same password, however a keyboard writes them', async () => {
  const person = await server.signInAs('viewer');
  const [two, one] = ['Zébra-hat-éé'.normalize('NFD'), 'Zébra-hat-éé'.normalize('NFC')];
  const change = (currentPassword: string, newPassword: string) =>
    server
      .api(person)
      .call(calls.changePassword, { body: { currentPassword, newPassword, confirmPassword: newPassword } });
  expect((await change(password, two)).status).toBe(204);
  for (const typed of [one, two]) expect((await signIn(person.email, typed)).status).toBe(200);
  expect((await change(two, one)).status, 'the same again').toBe(422);
});

describe('one’s own sessions', () => {
  test('are open no longer than 12 hours, however busy: an older one is neither listed nor counted', async () => {
    const { email, userId } = await server.createPerson('admin');
    const { body } = await signIn(email);
    const busy = server.api({ headers: { authorization: `Bearer ${body.data.accessToken}` } });
    server.clock.advance(minutes(10));
    expect((await busy.call(sessionCalls.me)).status).toBe(200);
    await server.db
      .updateTable('sessions')
      .set({ created_at: new Date(server.clock.now().getTime() - hours(12)) })
      .where('user_id', '=', userId)
      .execute();
    const again = await signIn(email);
    const api = server.api({ headers: { authorization: `Bearer ${again.body.data.accessToken}` } });
    expect(await api.ok(calls.sessions)).toMatchObject([{ current: true }]);
    expect(await api.ok(users.impact, { params: { id: userId } })).toMatchObject({ openSessions: 1 });
  });

  test('are listed with address and browser, and ended one by one', async () => {
    const { email } = await server.createPerson('viewer');
    const [one, two] = [await signIn(email), await signIn(email)].map(({ body }) =>
      server.api({ headers: { authorization: `Bearer ${body.data.accessToken}` } }),
    );
    const open = await one!.ok(calls.sessions, {});
    expect(open).toHaveLength(2);
    const other = open.find((session) => !session.current)!;
    await one!.ok(calls.endSession, { params: { sessionId: other.sessionId } });
    expect((await two!.call(sessionCalls.me, {})).status).toBe(401);
    expect((await one!.call(calls.endSession, { params: { sessionId: other.sessionId } })).status).toBe(404);
  });

  test('end all at once, but for the one that asks and those of others', async () => {
    const { email, userId } = await server.createPerson('viewer');
    const stranger = server.api(await server.signInAs('viewer'));
    const [here, there, elsewhere] = [await signIn(email), await signIn(email), await signIn(email)].map(
      ({ body }) => server.api({ headers: { authorization: `Bearer ${body.data.accessToken}` } }),
    );
    expect((await here!.call(calls.endOtherSessions, {})).status).toBe(204);
    for (const gone of [there, elsewhere]) expect((await gone!.call(sessionCalls.me, {})).status).toBe(401);
    for (const stays of [here, stranger]) expect((await stays!.call(sessionCalls.me, {})).status).toBe(200);
    expect(await here!.ok(calls.sessions, {})).toMatchObject([{ current: true }]);
    expect((await auditOf(server, userId)).at(-1)).toMatchObject({
      event_type: 'user.sessions_ended',
      changes_summary: `${email}: ended 2 other sessions`,
    });
  });

  test('of somebody else are not there', async () => {
    const stranger = server.api(await server.signInAs('viewer'));
    const victim = server.api(await server.signInAs('viewer'));
    const [session] = await victim.ok(calls.sessions, {});
    expect(
      (await stranger.call(calls.endSession, { params: { sessionId: session!.sessionId } })).status,
    ).toBe(404);
  });
});

test('what people change of their account changes nobody else', async () => {
  const [person, begun, set] = [
    await server.signInAs('viewer'),
    await server.signInAs('viewer'),
    await server.signInAs('viewer'),
  ];
  const body = { currentPassword: password };
  await server.api(begun).ok(calls.enrollSecondFactor, { body });
  await addSecondFactor(server, set);
  const others = () =>
    Promise.all(
      (['users', 'sessions', 'recovery_codes'] as const).map((table) =>
        othersIn(server, table, 'user_id', person.userId),
      ),
    );
  const before = await others();
  const { api, secret, recoveryCodes } = await addSecondFactor(server, person);
  for (const code of [codeOf(server, secret), recoveryCodes[0]])
    expect((await signIn(person.email, password, code)).status).toBe(200);
  await api.ok(calls.setFirstScreen, { body: { screen: 'releases' } });
  await api.ok(calls.removeSecondFactor, { body });
  const fresh = 'fresh and long';
  await api.ok(calls.changePassword, { body: { ...body, newPassword: fresh, confirmPassword: fresh } });
  expect(await others()).toEqual(before);
});

describe('a second factor', () => {
  test('is asked for at sign-in once it is confirmed, and each code works once', async () => {
    const { email } = await server.createPerson('viewer');
    const { body } = await signIn(email);
    const { secret } = await addSecondFactor(server, {
      headers: { authorization: `Bearer ${body.data.accessToken}` },
    });
    expect((await signIn(email)).body).toMatchObject({
      code: 'SECOND_FACTOR_REQUIRED',
      error: 'Enter the code of your authenticator app.',
    });
    expect((await signIn(email, password, '000000')).status).toBe(401);
    const code = codeOf(server, secret);
    const atOnce = await Promise.all([signIn(email, password, code), signIn(email, password, code)]);
    expect(atOnce.map((answer) => answer.status).toSorted()).toEqual([200, 401]);
    const again = await signIn(email, password, code);
    expect([again.status, again.body.error]).toEqual([
      401,
      'The code is not right, or was used before. Wait for the next one.',
    ]);
  });

  test('takes the codes of half a minute before and after, no others, and none before one that was used', async () => {
    const person = await server.signInAs('viewer');
    const { secret } = await addSecondFactor(server, person);
    server.clock.advance(minutes(2));
    const answers: number[] = [];
    for (const off of [-60, 60, -30, 0, 30, 0, -30].map(seconds)) {
      server.clock.advance(off);
      const code = codeOf(server, secret);
      server.clock.advance(-off);
      answers.push((await signIn(person.email, password, code)).status);
    }
    expect(answers).toEqual([401, 401, 200, 200, 200, 401, 401]);
  });

  test('signs in again, once by each code, after a day on which the clock was ahead', async () => {
    const { email, headers } = await server.signInAs('viewer');
    const { secret } = await addSecondFactor(server, { headers });
    const signInNow = async () => (await signIn(email, password, codeOf(server, secret))).status;
    server.clock.advance(days(1));
    expect(await signInNow()).toBe(200);
    server.clock.advance(-days(1));
    expect([await signInNow(), await signInNow()]).toEqual([200, 401]);
  });

  test('leaves a right password without its code in the audit log, once in a quarter of an hour from an address', async () => {
    const person = await server.signInAs('viewer');
    await addSecondFactor(server, person);
    for (const _ of [1, 2]) await signIn(person.email);
    const entries = async () => {
      const auditor = server.api(await server.signInAs('admin'));
      const query = { eventType: 'session.code_required', search: person.email } as const;
      return (await auditor.ok(audit.list, { query })).entries;
    };
    const first = {
      changes_summary: `Session of ${person.email}: password right, asked for the code`,
      ip_address: '127.0.0.1',
      success: true,
    };
    expect(await entries()).toMatchObject([first]);
    await server.refusals.flush();
    server.clock.advance(minutes(16));
    await closeWindows(server.context, server.auditKeys);
    expect(await entries()).toMatchObject([
      { ...first, changes_summary: expect.stringContaining(`${first.changes_summary}, once more from `) },
      first,
    ]);
  });

  test('can be replaced by a recovery code, once, also when it comes twice at the same moment', async () => {
    const { email } = await server.createPerson('viewer');
    const { body } = await signIn(email);
    const { recoveryCodes } = await addSecondFactor(server, {
      headers: { authorization: `Bearer ${body.data.accessToken}` },
    });
    expect(recoveryCodes).toHaveLength(10);
    const answers = await Promise.all([
      signIn(email, password, recoveryCodes[0]),
      signIn(email, password, recoveryCodes[0]),
    ]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 401]);
    expect((await signIn(email, password, recoveryCodes[1]!.toUpperCase())).status).toBe(200);
  });

  test('says in the audit log when a recovery code stood in for it, and how many are left', async () => {
    const person = await server.signInAs('viewer');
    const { secret, recoveryCodes } = await addSecondFactor(server, person);
    for (const code of [codeOf(server, secret), recoveryCodes[3], recoveryCodes[8]])
      expect((await signIn(person.email, password, code)).status).toBe(200);
    expect((await signIn(person.email, password, recoveryCodes[3])).status).toBe(401);
    const entries = await server.db
      .selectFrom('audit_entries')
      .select(['event_type', 'changes_summary'])
      .where('event_type', 'like', 'session.login%')
      .where('changes_summary', 'like', `%${person.email}%`)
      .orderBy('audit_id')
      .execute();
    expect(entries.map((entry) => entry.changes_summary)).toEqual([
      `Session of ${person.email}: signed in`,
      `Session of ${person.email}: signed in`,
      `Session of ${person.email}: signed in with a recovery code; 9 left`,
      `Session of ${person.email}: signed in with a recovery code; 8 left`,
      `Session of ${person.email}: sign-in failed`,
    ]);
  });

  test('leaves a recovery code unused when the entry of the sign-in cannot be written', async () => {
    const person = await server.signInAs('viewer');
    const { api, recoveryCodes } = await addSecondFactor(server, person);
    await sql`alter table audit_entries add constraint no_login check (event_type <> 'session.login') not valid`.execute(
      server.db,
    );
    try {
      expect((await signIn(person.email, password, recoveryCodes[0])).status).toBe(500);
    } finally {
      await sql`alter table audit_entries drop constraint no_login`.execute(server.db);
    }
    expect((await api.ok(calls.secondFactor)).recoveryCodesLeft).toBe(10);
    expect((await signIn(person.email, password, recoveryCodes[0])).status).toBe(200);
  });

  test.each(['abcde-fghij', '12345', '1234567', '12345a', '１２３４５６', ''])(
    'is not confirmed by “%s”, which no app shows',
    async (code) => {
      const api = server.api(await server.signInAs('viewer'));
      await api.ok(calls.enrollSecondFactor, { body: { currentPassword: password } });
      const answer = await api.call(calls.confirmSecondFactor, { body: { code } });
      expect([answer.status, answer.body.error]).toEqual([400, 'code: Must be six digits']);
      expect((await api.ok(calls.secondFactor)).active).toBe(false);
    },
  );

  test('that a role requires holds everything back until there is one', async () => {
    const root = server.api(await server.signInAs('super_admin'));
    await root.ok(rbac.createRole, { body: { roleId: 'strict_admin', description: 'x', copyFrom: 'admin' } });
    const strict = (await root.ok(rbac.roles, {})).find((role) => role.roleId === 'strict_admin')!;
    const change = { description: 'x', requiresSecondFactor: true, permissions: strict.permissions };
    await root.ok(rbac.updateRole, { params: { roleId: 'strict_admin' }, body: change });
    const user = {
      email: 'strict@lanyard.test',
      name: '',
      password: 'a good password',
      role: 'strict_admin',
    };
    await root.ok(users.create, { body: user });
    const { body } = await signIn(user.email, user.password);
    expect(body.data).toMatchObject({ permissions: [], secondFactorMissing: true });
    const api = server.api({ headers: { authorization: `Bearer ${body.data.accessToken}` } });
    const held = await api.call(customers.list, {});
    expect([held.status, held.body.error]).toEqual([
      403,
      'Your role requires a second factor. Set one up on your account page first.',
    ]);
    const { secret } = await api.ok(calls.enrollSecondFactor, { body: { currentPassword: user.password } });
    await api.ok(calls.confirmSecondFactor, { body: { code: codeOf(server, secret) } });
    expect((await api.call(customers.list, {})).status).toBe(200);
    expect(
      (await api.call(calls.removeSecondFactor, { body: { currentPassword: user.password } })).body,
    ).toMatchObject({
      error: 'The role strict_admin requires a second factor.',
    });
  });

  test('leaves no secret and no code in the audit log', async () => {
    const person = await server.signInAs('viewer');
    const { secret, recoveryCodes } = await addSecondFactor(server, person);
    const entries = JSON.stringify(await auditOf(server, person.userId));
    for (const word of [secret, ...recoveryCodes]) expect(entries).not.toContain(word);
  });

  test('that was lost is taken off by an administrator', async () => {
    const person = await server.signInAs('viewer');
    await addSecondFactor(server, person);
    const root = server.api(await server.signInAs('super_admin'));
    const user = await root.ok(users.resetSecondFactor, { params: { id: person.userId }, body: {} });
    expect(user.secondFactor).toBe(false);
    expect((await auditOf(server, person.userId)).at(-1)).toMatchObject({
      event_type: 'user.second_factor_removed',
    });
  });

  test('takes its recovery codes along: they open no account with the next one', async () => {
    const person = await server.signInAs('viewer');
    const { api, recoveryCodes } = await addSecondFactor(server, person);
    await api.ok(calls.removeSecondFactor, { body: { currentPassword: password } });
    expect(await api.ok(calls.secondFactor)).toMatchObject({ active: false, recoveryCodesLeft: 0 });
    await addSecondFactor(server, person);
    expect((await signIn(person.email, password, recoveryCodes[0])).status).toBe(401);
  });

  test('that was set up since the lost one was shown is not taken off', async () => {
    const person = await server.signInAs('viewer');
    await addSecondFactor(server, person);
    const root = server.api(await server.signInAs('super_admin'));
    const at = { params: { id: person.userId } };
    const { updatedAt } = await root.ok(users.get, at);
    const reset = { ...at, body: { updatedAt } };
    const without = await root.ok(users.resetSecondFactor, reset);
    expect(without).toEqual(await root.ok(users.get, at));
    await addSecondFactor(server, person);
    for (const seen of [updatedAt, without.updatedAt]) {
      const answer = await root.call(users.resetSecondFactor, { ...at, body: { updatedAt: seen } });
      expect([answer.status, answer.body.code]).toEqual([409, 'WRONG_STATE']);
    }
    expect((await root.ok(users.get, at)).secondFactor).toBe(true);
  });

  test('is not taken off by oneself in User Management, where no password is asked for', async () => {
    const person = await server.signInAs('super_admin');
    const { api } = await addSecondFactor(server, person);
    const answer = await api.call(users.resetSecondFactor, { params: { id: person.userId }, body: {} });
    expect([answer.status, answer.body.error]).toEqual([
      422,
      'Remove your own second factor on your account page, which asks for your password.',
    ]);
    expect((await signIn(person.email)).body.code).toBe('SECOND_FACTOR_REQUIRED');
    await api.ok(calls.removeSecondFactor, { body: { currentPassword: password } });
    expect((await signIn(person.email)).status).toBe(200);
  });
});
