import { session as sessionCalls } from '../contract/session.ts';
import { users as calls, type User } from '../contract/users.ts';
import { unique } from './factories.ts';
import type { Api, TestServer } from './harness.ts';

/** Users made by `root`, and how they sign in. */
export function usersRoom(server: TestServer, root: Api) {
  const anyone = () => server.api({ headers: {} });
  const newPassword = 'a password nobody else has';

  function makeUser(role = 'viewer', fields: { email?: string; name?: string } = {}): Promise<User> {
    const email = fields.email ?? `${unique('person').replace(' ', '-')}@lanyard.test`;
    return root.ok(calls.create, { body: { email, name: 'Robin', password: newPassword, role, ...fields } });
  }

  const signIn = (user: { email: string }, secret = newPassword) =>
    anyone().call(sessionCalls.login, { body: { email: user.email, password: secret } });

  async function signedIn(user: { email: string }, on = server): Promise<Api> {
    const answer = await signIn(user);
    return on.api({ headers: { authorization: `Bearer ${answer.body.data.accessToken}` } });
  }

  return { anyone, newPassword, makeUser, signIn, signedIn };
}
