import { z } from 'zod';
import {
  dateTime,
  id,
  isEmail,
  line,
  namedObject,
  requiredLine,
  requiredText,
  search,
  seenVersion,
  shownVersion,
} from './common.ts';
import { permission } from './session.ts';
import { route, staffWith } from './route.ts';
import { userStatuses } from './list-words.ts';

/** Spec part 2, section 9. The server also refuses common passwords, the email, and one character repeated. */
export const shortestPassword = 6;

/** A staff member (spec part 2, section 3). `role` is the first of `roles`; the screens show one. */
export const user = namedObject('User', {
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  roles: z.array(z.string()),
  status: z.enum(userStatuses),
  secondFactor: z.boolean().meta({ description: 'Whether the user signs in with a second factor' }),
  lastSignInAt: dateTime.nullable(),
  createdAt: dateTime,
  updatedAt: dateTime,
});
export type User = z.output<typeof user>;

export const role = namedObject('Role', {
  roleId: z.string(),
  name: z.string(),
  description: z.string(),
  builtIn: z.boolean().meta({ description: 'One of the seven built-in roles; cannot be deleted' }),
  requiresSecondFactor: z.boolean(),
  permissions: z.array(permission),
  userCount: z.number(),
  updatedAt: dateTime,
});
export type Role = z.output<typeof role>;

/** Why an action on a role is refused in its present state; null when it is allowed. */
export const roleRefusal = {
  delete({ builtIn, userCount }: Pick<Role, 'builtIn' | 'userCount'>) {
    if (builtIn) return 'A built-in role cannot be deleted.';
    return userCount > 0 ? 'There are users with this role.' : null;
  },
};

const email = requiredLine(320, 'Email is required').refine(isEmail, 'Must be an email address');
const roleId = z
  .string()
  .trim()
  .regex(/^[a-z][a-z0-9_]{1,49}$/, 'Must be lower-case letters, digits and underscores');
export const newPassword = z
  .string()
  .min(shortestPassword, 'New password must be at least 6 characters long')
  .max(1024);

/** The caller's password, for calls that could let a stolen session act as another user. */
const currentPassword = z.string().max(1024).optional().meta({
  description:
    'Password of the caller, where the change needs it and the last sign-in is more than five minutes ago',
});

export const userInput = z.strictObject({
  email,
  name: line(200).default(''),
  password: newPassword,
  role: roleId,
  currentPassword,
});

export const userPatch = z
  .strictObject({ email, name: line(200), role: roleId, currentPassword, updatedAt: seenVersion })
  .partial();

export const roleInput = z.strictObject({
  roleId,
  description: requiredText(500, 'Description is required'),
  copyFrom: roleId,
});

const byId = z.object({ id });
const canRead = staffWith('users', 'read');
const canUpdate = staffWith('users', 'update');

/** A session as the user sees it. */
export const openSession = namedObject('OpenSession', {
  sessionId: z.string(),
  current: z.boolean(),
  ipAddress: z.string(),
  userAgent: z.string(),
  createdAt: dateTime,
  lastSeenAt: dateTime,
});
export type OpenSession = z.output<typeof openSession>;

export const users = {
  list: route('GET', '/api/users', {
    summary: 'All users, or those whose email or name contains the search',
    access: canRead,
    query: z.strictObject({ search }),
    answer: z.array(user),
  }),
  get: route('GET', '/api/users/{id}', {
    summary: 'One user',
    access: canRead,
    params: byId,
    answer: user,
  }),
  impact: route('GET', '/api/users/{id}/impact', {
    summary:
      'Open sessions of a user, working API keys that the user created, and changes that wait for approval',
    access: canRead,
    params: byId,
    answer: namedObject('UserImpact', {
      openSessions: z.number(),
      apiKeys: z.number(),
      openRequests: z.number().meta({ description: 'Open change requests that the user made' }),
    }),
  }),
  create: route('POST', '/api/users', {
    summary: 'Create a user; the role must not grant more than the caller has',
    access: staffWith('users', 'create'),
    body: userInput,
    answer: user,
    status: 201,
    errors: ['ALREADY_EXISTS', 'WRONG_CREDENTIALS', 'RULE_VIOLATED'],
  }),
  update: route('PATCH', '/api/users/{id}', {
    summary: "Change email, name or role; a new role takes effect with the user's next call",
    access: canUpdate,
    params: byId,
    body: userPatch,
    answer: user,
    errors: ['ALREADY_EXISTS', 'WRONG_CREDENTIALS', 'RULE_VIOLATED'],
  }),
  deactivate: route('POST', '/api/users/{id}/deactivate', {
    summary: 'Deactivate a user; open sessions end with their next call',
    access: canUpdate,
    params: byId,
    answer: user,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  reactivate: route('POST', '/api/users/{id}/reactivate', {
    summary: 'Let a deactivated user sign in again',
    access: canUpdate,
    params: byId,
    body: z.strictObject({ currentPassword }),
    bodyOptional: true,
    answer: user,
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE', 'RULE_VIOLATED'],
  }),
  delete: route('DELETE', '/api/users/{id}', {
    summary: 'Permanently delete a user; audit entries are kept',
    access: staffWith('users', 'delete'),
    params: byId,
    query: z.strictObject({ updatedAt: shownVersion }),
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  resetPassword: route('POST', '/api/users/{id}/reset-password', {
    summary: 'Set a new password; ends every session of the user',
    access: canUpdate,
    params: byId,
    body: z.strictObject({
      newPassword: z.string().max(1024),
      confirmPassword: z.string().max(1024),
      currentPassword,
      updatedAt: shownVersion,
    }),
    answer: user,
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE', 'RULE_VIOLATED'],
  }),
  resetSecondFactor: route('DELETE', '/api/users/{id}/second-factor', {
    summary: 'Remove the lost second factor of a user',
    access: canUpdate,
    params: byId,
    body: z.strictObject({ currentPassword, updatedAt: shownVersion }),
    answer: user,
    errors: ['WRONG_CREDENTIALS', 'WRONG_STATE', 'RULE_VIOLATED'],
  }),
  sessions: route('GET', '/api/users/{id}/sessions', {
    summary: 'Open sessions of a user; those of other users only for a super admin',
    access: canRead,
    params: byId,
    answer: z.array(openSession),
    errors: ['RULE_VIOLATED'],
  }),
  endSession: route('DELETE', '/api/users/{id}/sessions/{sessionId}', {
    summary: 'End a session of a user; those of other users only for a super admin',
    access: canUpdate,
    params: z.object({ id, sessionId: id }),
    errors: ['RULE_VIOLATED'],
  }),
};

const byRole = z.object({ roleId });
const byUserRole = z.object({ userId: id, roleId });

export const rbac = {
  roles: route('GET', '/api/rbac/roles', {
    summary: 'All roles with their permissions',
    access: canRead,
    answer: z.array(role),
  }),
  permissions: route('GET', '/api/rbac/permissions', {
    summary: 'All permissions, as shown in the matrix',
    access: canRead,
    answer: z.array(permission),
  }),
  userRoles: route('GET', '/api/rbac/users/{userId}/roles', {
    summary: 'The roles of a user',
    access: canRead,
    params: z.object({ userId: id }),
    answer: z.array(z.object({ roleId: z.string(), name: z.string(), description: z.string() })),
  }),
  assignRole: route('POST', '/api/rbac/users/{userId}/roles/{roleId}', {
    summary:
      'Assign a role to a user; one that adds users:update, or the first of rollouts:create and rollouts:update, needs a sign-in of the last five minutes',
    access: canUpdate,
    params: byUserRole,
    anyBody: true,
    errors: ['ALREADY_EXISTS', 'RULE_VIOLATED'],
  }),
  revokeRole: route('DELETE', '/api/rbac/users/{userId}/roles/{roleId}', {
    summary: 'Remove a role from a user',
    access: canUpdate,
    params: byUserRole,
    errors: ['RULE_VIOLATED'],
  }),
  createRole: route('POST', '/api/rbac/roles', {
    summary: 'Create a role as a copy of an existing one',
    access: canUpdate,
    body: roleInput,
    answer: role,
    status: 201,
    errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'RULE_VIOLATED'],
  }),
  updateRole: route('PUT', '/api/rbac/roles/{roleId}', {
    summary: 'Set the permissions of a role; takes effect with the next call of its users',
    access: canUpdate,
    params: byRole,
    body: z.strictObject({
      description: requiredText(500, 'Description is required'),
      requiresSecondFactor: z.boolean(),
      permissions: z.array(permission).max(200),
      currentPassword,
      updatedAt: seenVersion,
    }),
    answer: role,
    errors: ['WRONG_CREDENTIALS', 'RULE_VIOLATED'],
  }),
  roleImpact: route('GET', '/api/rbac/roles/{roleId}/impact', {
    summary: 'How many active users have a role, how many of them no second factor, and what they asked for',
    access: canRead,
    params: byRole,
    answer: namedObject('RoleImpact', {
      people: z.number(),
      withoutSecondFactor: z.number(),
      openRequests: z.number().meta({ description: 'Open change requests that these users made' }),
    }),
  }),
  deleteRole: route('DELETE', '/api/rbac/roles/{roleId}', {
    summary: 'Delete a role that no user has and that is not built in',
    access: canUpdate,
    params: byRole,
    errors: ['RULE_VIOLATED'],
  }),
};
