import { z } from 'zod';
import { id, namedObject } from './common.ts';
import { route, signedIn } from './route.ts';
import { screenNames } from './screens.ts';
import { authenticatorCode } from './session.ts';
import { openSession } from './users.ts';

/** Calls that manage the caller's own account. */
export const account = {
  changePassword: route('POST', '/api/v1/auth/password', {
    summary: 'Change your own password; all other sessions end',
    access: signedIn,
    body: z.strictObject({
      currentPassword: z.string().max(1024),
      newPassword: z.string().max(1024),
      confirmPassword: z.string().max(1024),
    }),
    errors: ['WRONG_CREDENTIALS', 'RULE_VIOLATED'],
  }),
  setFirstScreen: route('PUT', '/api/v1/auth/first-screen', {
    summary: 'Choose the screen that `/` opens for you',
    access: signedIn,
    body: z.strictObject({
      screen: z.enum(screenNames).nullable().meta({ description: 'Null: the one that opens for everyone' }),
    }),
    answer: z.object({ firstScreen: z.enum(screenNames).nullable() }),
    errors: ['RULE_VIOLATED'],
  }),
  sessions: route('GET', '/api/v1/auth/sessions', {
    summary: 'Your own open sessions',
    access: signedIn,
    answer: z.array(openSession),
  }),
  endSession: route('DELETE', '/api/v1/auth/sessions/{sessionId}', {
    summary: 'End one of your own sessions',
    access: signedIn,
    params: z.object({ sessionId: id }),
  }),
  endOtherSessions: route('DELETE', '/api/v1/auth/sessions', {
    summary: 'End all of your own sessions except this one',
    access: signedIn,
  }),
  secondFactor: route('GET', '/api/v1/auth/second-factor', {
    summary: 'Whether you have a second factor, and whether a role requires one',
    access: signedIn,
    answer: namedObject('OwnSecondFactor', {
      active: z.boolean(),
      recoveryCodesLeft: z.number(),
      requiredBy: z.string().nullable().meta({ description: 'A role of this user that requires it' }),
    }),
  }),
  enrollSecondFactor: route('POST', '/api/v1/auth/second-factor', {
    summary: 'Start to set up a second factor; returns the secret for an authenticator app, once',
    access: signedIn,
    body: z.strictObject({ currentPassword: z.string().max(1024) }),
    answer: z.object({ secret: z.string(), otpauthUrl: z.string() }),
    shownOnce: true,
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE'],
  }),
  confirmSecondFactor: route('POST', '/api/v1/auth/second-factor/confirm', {
    summary:
      'Confirm the second factor with a code of the authenticator app; returns the recovery codes, once',
    access: signedIn,
    body: z.strictObject({ code: authenticatorCode }),
    answer: z.object({ recoveryCodes: z.array(z.string()) }),
    shownOnce: true,
    errors: ['RULE_VIOLATED', 'WRONG_STATE'],
  }),
  removeSecondFactor: route('DELETE', '/api/v1/auth/second-factor', {
    summary: 'Remove the second factor, unless a role requires it',
    access: signedIn,
    body: z.strictObject({ currentPassword: z.string().max(1024) }),
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE', 'RULE_VIOLATED'],
  }),
};
