import { account as calls } from '../../../contract/account.ts';
import type { Context } from '../../context.ts';
import type { Change } from '../../change.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { inChange, inChangeAfter, implement, type Cookie } from '../../http/call.ts';
import type { Refusals } from '../audit/index.ts';
import {
  confirmSecondFactor,
  enrollSecondFactor,
  proveApp,
  refuseCurrentPassword,
  renewDevice,
} from '../session/index.ts';
import type { Passwords } from '../../passwords.ts';
import {
  changePassword,
  dropSecondFactor,
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
  ownSecondFactor,
  prepareNewPassword,
  setFirstScreen,
} from './account.ts';

export function accountRoutes(context: Context, passwords: Passwords, refusals: Refusals) {
  const { db, secrets } = context;
  const guarded = { ...context, passwords, refusals };
  /** The browser of a change that forgets devices stays known. */
  const keepingDevice =
    <P, A>(run: (change: Change, prepared: P) => Promise<A | Failure>) =>
    async (change: Change, { device }: { device: Cookie }, prepared: P): Promise<A | Failure> => {
      const result = await run(change, prepared);
      if (!isFailure(result)) await renewDevice(change, secrets, device);
      return result;
    };
  return implement(calls, {
    changePassword: inChangeAfter(
      ({ by, body }) => prepareNewPassword(guarded, by, body),
      keepingDevice(changePassword),
    ),
    setFirstScreen: inChange((change, { body }) => setFirstScreen(change, body.screen)),
    sessions: ({ by }) => listOwnSessions(context, by),
    endSession: inChange((change, { params }) => endOwnSession(change, params.sessionId)),
    endOtherSessions: inChange(endOtherSessions),
    secondFactor: ({ by }) => ownSecondFactor(db, by),
    enrollSecondFactor: inChangeAfter(
      ({ by, body }) => refuseCurrentPassword(guarded, by, body.currentPassword),
      (change) => enrollSecondFactor(change, secrets),
    ),
    // The codes are hashed before the transaction, so that no connection waits for argon2.
    confirmSecondFactor: inChangeAfter(
      ({ by, body }) => proveApp(guarded, by, body.code),
      keepingDevice(confirmSecondFactor),
    ),
    removeSecondFactor: inChangeAfter(
      ({ by, body }) => refuseCurrentPassword(guarded, by, body.currentPassword),
      keepingDevice(dropSecondFactor),
    ),
  });
}
