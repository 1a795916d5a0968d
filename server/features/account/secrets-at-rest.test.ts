import { createHash } from 'node:crypto';
import { parse } from 'uuid';
import { describe, expect, test } from 'vitest';
import { session as sessionCalls } from '../../../contract/session.ts';
import { users } from '../../../contract/users.ts';
import {
  password,
  startTestServer,
  startTwin,
  type Identity,
  type TestServer,
} from '../../../tests/harness.ts';
import { addSecondFactor, codeOf } from '../../../tests/session-room.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { createPasswords } from '../../passwords.ts';
import { newSecretsKey, readSecrets } from '../../secrets.ts';

const server = await startTestServer();

const signIn = (at: TestServer, email: string, code?: string) =>
  at.api().call(sessionCalls.login, { body: { email, password, ...(code && { code }) } });

async function withSecondFactor() {
  const person = await server.signInAs('viewer');
  return { ...person, ...(await addSecondFactor(server, person)) };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

const storedOf = async (userId: string) => {
  const { totp_secret } = await server.db
    .selectFrom('users')
    .select('totp_secret')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const codes = await server.db
    .selectFrom('recovery_codes')
    .select('code_hash')
    .where('user_id', '=', userId)
    .execute();
  return { secret: totp_secret!, codes: codes.map(({ code_hash }) => code_hash.toString('hex')) };
};

describe('in the database', () => {
  test('the secret of an authenticator app is encrypted, and recovery codes have no fast hash', async () => {
    const person = await withSecondFactor();
    const stored = await storedOf(person.userId);
    expect(stored.secret).toMatch(/^sealed:[0-9a-f]{12}:/);
    expect(stored.secret).not.toContain(person.secret);
    for (const code of person.recoveryCodes) expect(stored.codes).not.toContain(sha256(code).toString('hex'));
    const passwords = createPasswords();
    const salt = Buffer.from(parse(person.userId));
    const slow = await passwords.derive(sha256(person.recoveryCodes[0]!).toString('hex'), salt);
    await passwords.stop();
    expect(stored.codes).toContain(slow.toString('hex'));
    expect((await signIn(server, person.email, codeOf(server, person.secret))).status).toBe(200);
    expect((await signIn(server, person.email, person.recoveryCodes[0])).status).toBe(200);
    expect((await signIn(server, person.email, person.recoveryCodes[0]!.toUpperCase())).status).toBe(401);
  });

  test('a secret counts for its person alone: that of another does not sign in', async () => {
    const [one, other] = [await withSecondFactor(), await withSecondFactor()];
    const { secret } = await storedOf(one.userId);
    await server.db
      .updateTable('users')
      .set({ totp_secret: secret })
      .where('user_id', '=', other.userId)
      .execute();
    expect((await signIn(server, other.email, codeOf(server, one.secret))).body.code).toBe('WRONG_STATE');
  });

  test('what an earlier version stored is protected at the next start, and still signs in', async () => {
    const person = await withSecondFactor();
    const { userId, email, secret, recoveryCodes } = person;
    await server.db.updateTable('users').set({ totp_secret: secret }).where('user_id', '=', userId).execute();
    await server.db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
    const plain = recoveryCodes.map((code) => ({ user_id: userId, code_hash: sha256(code) }));
    await server.db.insertInto('recovery_codes').values(plain).execute();

    const twin = await startTwin(server);
    const stored = await storedOf(userId);
    expect(stored.secret).toMatch(/^sealed:/);
    for (const code of recoveryCodes) expect(stored.codes).not.toContain(sha256(code).toString('hex'));
    expect((await signIn(twin, email, codeOf(server, secret))).status).toBe(200);
    expect((await signIn(server, email, recoveryCodes[4])).status).toBe(200);
    expect((await signIn(server, email, recoveryCodes[4])).status).toBe(401);
  });

  test('a secret that its person replaces while a start protects the earlier one stays the newer', async () => {
    const { userId, secret } = await withSecondFactor();
    const newer = (await storedOf(userId)).secret;
    await server.db.updateTable('users').set({ totp_secret: secret }).where('user_id', '=', userId).execute();
    const holder = await openHolder(server);
    await holder.whileWaiting(['update users set totp_secret = $2 where user_id = $1', userId, newer], () =>
      startTwin(server),
    );
    expect((await storedOf(userId)).secret).toBe(newer);
  });

  test('nothing that a password could be guessed from stands behind an Idempotency-Key', async () => {
    const root = await server.signInAs('super_admin');
    const body = { email: 'kept@lanyard.test', name: '', password: 'a good password', role: 'viewer' };
    const key = { 'idempotency-key': 'made once' };
    const made = await server.api(root).call(users.create, { body }, key);
    const { request_hash } = await server.db
      .selectFrom('idempotency_keys')
      .select('request_hash')
      .where('key', '=', 'made once')
      .executeTakeFirstOrThrow();
    const asked = JSON.stringify(['POST', '/api/users', body, null]);
    expect(request_hash.toString('hex')).not.toBe(sha256(asked).toString('hex'));
    const again = await server.api(root).call(users.create, { body }, key);
    expect([again.status, again.body.data]).toEqual([201, made.body.data]);
    const other = { ...body, password: 'another good one' };
    expect((await server.api(root).call(users.create, { body: other }, key)).status).toBe(409);
  });
});

describe('a secrets key that was lost, and accepted as lost,', () => {
  test('is named in the log at each start; people are told, come in by a recovery code, and can be reset', async () => {
    const person = await withSecondFactor();
    const said: string[] = [];
    const twin = await startTwin(server, {
      secrets: readSecrets(newSecretsKey(), 'a test'),
      config: { logLevel: 'error' },
      onLog: (line) => said.push(line),
    });
    expect(said.join('')).toContain('Put that file back from a backup');
    const refused = await signIn(twin, person.email, codeOf(server, person.secret));
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining('the key in its data directory is another one'),
    ]);
    expect((await signIn(twin, person.email, person.recoveryCodes[0])).status).toBe(200);
    const root: Identity = await server.signInAs('super_admin');
    await twin.api(root).ok(users.resetSecondFactor, { params: { id: person.userId }, body: {} });
    expect((await signIn(twin, person.email)).status).toBe(200);
  });
});
