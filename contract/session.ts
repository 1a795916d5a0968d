import { z } from 'zod';
import { namedObject, requiredLine } from './common.ts';
import { actions, resources } from './permissions.ts';
import { anyone, route, signedIn } from './route.ts';
import { screenNames } from './screens.ts';

/** The signed-in user, as the console stores it in local storage under `user` (spec part 1, section 3). */
const sessionUser = namedObject('SessionUser', {
  userId: z.string(),
  email: z.string(),
  name: z.string(),
});

export type SessionUser = z.output<typeof sessionUser>;

const role = namedObject('RoleName', { name: z.string() });

/** Security advice for the user's account, which the user can postpone: change the password, add a second factor. */
const advice = z.enum(['password', 'secondFactor']);

export type Advice = z.output<typeof advice>;

export const permission = z
  .object({ resource: z.enum(resources), action: z.enum(actions) })
  .meta({ id: 'Permission' });

const rights = {
  permissions: z.array(permission),
  roles: z.array(role),
  secondFactorMissing: z.boolean().meta({
    description: 'A role of this user requires a second factor; until it is set up, nothing is permitted',
  }),
  ownPasswordMissing: z.boolean().meta({
    description:
      'The password was set by someone else, and this server requires users to set their own; until it is changed, nothing is permitted',
  }),
  firstScreen: z.enum(screenNames).nullable().meta({
    description: 'The screen that `/` opens; null: the licenses, or the first that the user may read',
  }),
  advice: z.array(advice).meta({
    description:
      '`password`: set by someone else; `secondFactor`: this user may change users and has none. Empty while ' +
      'something is missing',
  }),
};

/** A code of an authenticator app. Confirming the app accepts no recovery code. */
export const authenticatorCode = z
  .string()
  .trim()
  .regex(/^[0-9]{6}$/, 'Must be six digits');

/** Six digits of an authenticator app, or a recovery code. */
const secondFactorCode = z
  .string()
  .trim()
  .regex(/^([0-9]{6}|[a-z0-9]{5}-[a-z0-9]{5})$/i, 'Must be six digits or a recovery code');

const signInInput = z.strictObject({
  email: requiredLine(320, 'Email is required'),
  password: z.string().min(1, 'Password is required').max(1024),
  code: secondFactorCode.optional(),
});

const signIn = namedObject('SignIn', { user: sessionUser, accessToken: z.string(), ...rights });

export const session = {
  login: route('POST', '/api/v1/auth/login', {
    summary: 'Sign in with email and password',
    access: anyone,
    body: signInInput,
    answer: signIn,
    errors: ['WRONG_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'WRONG_STATE'],
  }),
  logout: route('POST', '/api/v1/auth/logout', {
    summary: 'End the session on the server',
    access: anyone,
  }),
  refresh: route('POST', '/api/v1/auth/refresh', {
    summary: 'Rotate the session cookie and the access token',
    access: anyone,
    answer: signIn,
  }),
  me: route('GET', '/api/v1/auth/me', {
    summary: 'The signed-in user with permissions and roles',
    access: signedIn,
    answer: namedObject('Me', { user: sessionUser, ...rights }),
  }),
};
