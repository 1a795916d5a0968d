import { z } from 'zod';
import { id } from './common.ts';
import { route, signedIn } from './route.ts';
import { authenticatorCode } from './session.ts';
import { openSession } from './users.ts';

/** What a person does with their own account. */
export const account = {
  changePassword: route({
    method: 'POST',
    path: '/api/v1/auth/password',
    summary: 'Change one’s own password; the other sessions end',
    access: signedIn,
    body: z.strictObject({
      currentPassword: z.string().max(1024),
      newPassword: z.string().max(1024),
      confirmPassword: z.string().max(1024),
    }),
    errors: ['WRONG_CREDENTIALS', 'RULE_VIOLATED', 'TOO_MANY_REQUESTS'],
  }),
  sessions: route({
    method: 'GET',
    path: '/api/v1/auth/sessions',
    summary: 'One’s own open sessions',
    access: signedIn,
    answer: z.array(openSession),
  }),
  endSession: route({
    method: 'DELETE',
    path: '/api/v1/auth/sessions/{sessionId}',
    summary: 'End one of one’s own sessions',
    access: signedIn,
    params: z.object({ sessionId: id }),
    errors: ['NOT_FOUND'],
  }),
  endOtherSessions: route({
    method: 'DELETE',
    path: '/api/v1/auth/sessions',
    summary: 'End all of one’s own sessions but this one',
    access: signedIn,
  }),
  secondFactor: route({
    method: 'GET',
    path: '/api/v1/auth/second-factor',
    summary: 'Whether one has a second factor, and whether one must',
    access: signedIn,
    answer: z
      .object({
        active: z.boolean(),
        recoveryCodesLeft: z.number(),
        requiredBy: z.string().nullable().meta({ description: 'A role of this person that requires it' }),
      })
      .meta({ id: 'OwnSecondFactor' }),
  }),
  enrollSecondFactor: route({
    method: 'POST',
    path: '/api/v1/auth/second-factor',
    summary: 'Begin with a second factor: the secret for an authenticator app, shown once',
    access: signedIn,
    body: z.strictObject({ currentPassword: z.string().max(1024) }),
    answer: z.object({ secret: z.string(), otpauthUrl: z.string() }),
    shownOnce: true,
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE', 'TOO_MANY_REQUESTS'],
  }),
  confirmSecondFactor: route({
    method: 'POST',
    path: '/api/v1/auth/second-factor/confirm',
    summary: 'Prove the authenticator app; answers the recovery codes, shown once',
    access: signedIn,
    body: z.strictObject({ code: authenticatorCode }),
    answer: z.object({ recoveryCodes: z.array(z.string()) }),
    shownOnce: true,
    errors: ['RULE_VIOLATED', 'WRONG_STATE', 'TOO_MANY_REQUESTS'],
  }),
  removeSecondFactor: route({
    method: 'DELETE',
    path: '/api/v1/auth/second-factor',
    summary: 'Go back to the password alone, unless the role requires a second factor',
    access: signedIn,
    body: z.strictObject({ currentPassword: z.string().max(1024) }),
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE', 'RULE_VIOLATED', 'TOO_MANY_REQUESTS'],
  }),
};
