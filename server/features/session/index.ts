export { renewDevice } from './device.ts';
export {
  clearSessions,
  endOpenSession,
  endSessionsAhead,
  endSessionsOf,
  isOpen,
  listOpenSessions,
} from './open-sessions.ts';
export {
  type Guarded,
  isProven,
  refuseCurrentPassword,
  refuseUnproven,
  unproven,
  verifyCurrentPassword,
  wrongPassword,
} from './own-password.ts';
export { protectSecondFactors, sealAgain } from './protect-second-factors.ts';
export { confirmSecondFactor, enrollSecondFactor, proveApp, removeSecondFactor } from './second-factor.ts';
export { isServiceAccount, rolesOfUser } from './session-row.ts';
export { type Sessions, createSessions } from './session.ts';
