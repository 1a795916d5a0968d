import { generateSync } from 'otplib';
import { account } from '../contract/account.ts';
import { session as calls } from '../contract/session.ts';
import { minutes, password, type Identity, type TestServer } from './harness.ts';

export const me = (on: TestServer, who: Identity) => on.api(who).call(calls.me);

export const later = (on: TestServer, ms: number) => on.clock.advance(ms);

/** What the authenticator app with this secret shows now. */
export const codeOf = (on: TestServer, secret: string) =>
  generateSync({ secret, epoch: Math.floor(on.clock.now().getTime() / 1000) });

/** Gives a user a second factor; a minute later, so that the app shows another code. */
export async function addSecondFactor(on: TestServer, who: Identity) {
  const api = on.api(who);
  const { secret } = await api.ok(account.enrollSecondFactor, { body: { currentPassword: password } });
  const { recoveryCodes } = await api.ok(account.confirmSecondFactor, { body: { code: codeOf(on, secret) } });
  later(on, minutes(1));
  return { api, secret, recoveryCodes };
}
