import { expect, test } from 'vitest';
import { account } from '../contract/account.ts';
import { session } from '../contract/session.ts';
import { users } from '../contract/users.ts';
import { password, startTestServer, type Api } from '../tests/harness.ts';
import { PasswordsBusy, type Passwords } from './passwords.ts';

let busy = false;
const unlessBusy = async <T>(answer: T): Promise<T> => {
  if (busy) throw new PasswordsBusy();
  return answer;
};
const passwords: Passwords = {
  hash: (plain) => unlessBusy(`hash of ${plain}`),
  verify: (hash, plain) => unlessBusy(hash === `hash of ${plain}`),
  derive: (secret) => unlessBusy(Buffer.from(secret)),
  stop: async () => undefined,
};

const server = await startTestServer({ passwords });
const person = await server.signInAs('super_admin');
const id = (await server.createPerson('viewer')).userId;

const fresh = { newPassword: 'fresh and long', confirmPassword: 'fresh and long' };
const current = { currentPassword: password };

const calls: [string, (api: Api) => ReturnType<Api['call']>][] = [
  ['a sign-in', (api) => api.call(session.login, { body: { email: person.email, password } })],
  ['a sign-in of nobody', (api) => api.call(session.login, { body: { email: 'a@b.example', password } })],
  [
    'a new user',
    (api) => api.call(users.create, { body: { email: 'new@lanyard.test', password, role: 'viewer' } }),
  ],
  ['a reset password', (api) => api.call(users.resetPassword, { params: { id }, body: fresh })],
  ['a changed password', (api) => api.call(account.changePassword, { body: { ...current, ...fresh } })],
  ['a second factor begun', (api) => api.call(account.enrollSecondFactor, { body: current })],
  ['a second factor removed', (api) => api.call(account.removeSecondFactor, { body: current })],
];

test.each(calls)('%s is put off while too many passwords wait, and counts as no failure', async (_, call) => {
  busy = true;
  try {
    const { status, headers, body } = await call(server.api(person));
    expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'TOO_MANY_REQUESTS', '1']);
    expect(body.error).toBe('Too many passwords are being checked at this moment. Try again.');
  } finally {
    busy = false;
  }
  expect(await server.db.selectFrom('login_failures').selectAll().execute()).toEqual([]);
});
