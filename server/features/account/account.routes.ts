import { account as calls } from '../../../contract/account.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import type { Refusals } from '../audit/index.ts';
import {
  confirmSecondFactor,
  enrollSecondFactor,
  proveApp,
  refuseCurrentPassword,
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
  return implement(calls, {
    changePassword: inChangeAfter(
      ({ by, body }) => prepareNewPassword(guarded, by, body),
      (change, _, prepared) => changePassword(change, prepared),
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
      (change, _, proven) => confirmSecondFactor(change, proven),
    ),
    removeSecondFactor: inChangeAfter(
      ({ by, body }) => refuseCurrentPassword(guarded, by, body.currentPassword),
      (change) => dropSecondFactor(change),
    ),
  });
}
