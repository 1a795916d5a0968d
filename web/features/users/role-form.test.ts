import { expect, test } from 'vitest';
import { permissionName, type Permission } from '../../../contract/permissions.ts';
import { roleRefusal, type Role } from '../../../contract/users.ts';
import { isChanged, permissionsOf, valuesOf, whyNotCell, whyNotEdit, withCell } from './role-form.ts';
import { fallbackRoles } from './role-labels.ts';
import type { Me } from './user-can.ts';

const role = (name: string) => fallbackRoles.find(({ roleId }) => roleId === name)!;
const me = (isSuperAdmin: boolean, ...held: string[]): Me => ({
  userId: 'me',
  isSuperAdmin,
  holds: (permission: Permission) => held.includes(permissionName(permission)),
});

const listed = ({ permissions }: Role) => permissions.map(permissionName);

test('cells are set and taken, and what comes out is in the order of the matrix', () => {
  const viewer = role('viewer');
  const more = withCell(valuesOf(viewer), 'users:read', true);
  expect(isChanged(viewer, more)).toBe(true);
  expect(permissionsOf(more.cells)[0]).toEqual({ resource: 'users', action: 'read' });
  expect(isChanged(viewer, withCell(more, 'users:read', false))).toBe(false);
});

test('a description and the second factor are changes as well', () => {
  const viewer = role('viewer');
  expect(isChanged(viewer, { ...valuesOf(viewer), description: `${viewer.description} ` })).toBe(false);
  expect(isChanged(viewer, { ...valuesOf(viewer), description: 'others' })).toBe(true);
  expect(isChanged(viewer, { ...valuesOf(viewer), requiresSecondFactor: true })).toBe(true);
});

test('super_admin cannot be changed, its setting by super admins only', () => {
  const permission: Permission = { resource: 'users', action: 'read' };
  expect(whyNotCell(me(true, 'users:read'), role('super_admin'), permission)).toContain('holds everything');
  const everything = listed(role('super_admin'));
  expect(whyNotEdit(me(true, ...everything), role('super_admin'), true)).toBeNull();
  expect(whyNotEdit(me(false), role('super_admin'), true)).toBe('Only a super admin changes this role.');
  expect(whyNotEdit(me(true), role('viewer'), false)).toBe('You lack the permission users:update.');
});

test('a role that may do more than the user cannot be changed', () => {
  const held = listed(role('viewer'));
  expect(whyNotEdit(me(false, ...held), role('viewer'), true)).toBeNull();
  expect(whyNotEdit(me(false, ...held), role('license_manager'), true)).toBe(
    'License Manager may do more than you: you lack licenses:create yourself.',
  );
});

test('users cannot grant permissions that they lack', () => {
  expect(
    whyNotCell(me(false, 'users:read'), role('viewer'), { resource: 'users', action: 'read' }),
  ).toBeNull();
  expect(whyNotCell(me(false), role('viewer'), { resource: 'audit', action: 'export' })).toBe(
    'You lack audit:export yourself',
  );
});

test('a role can be deleted when it is not built in and no user has it', () => {
  expect(roleRefusal.delete(role('viewer'))).toBe('A built-in role cannot be deleted.');
  expect(roleRefusal.delete({ ...role('viewer'), builtIn: false, userCount: 2 })).toBe(
    'There are users with this role.',
  );
  expect(roleRefusal.delete({ ...role('viewer'), builtIn: false })).toBeNull();
});
