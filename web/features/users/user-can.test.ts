import { expect, test } from 'vitest';
import { hasPermission, roleMatrix, type RoleName } from '../../../contract/permissions.ts';
import type { User } from '../../../contract/users.ts';
import { fallbackRoles } from './role-labels.ts';
import { whyNotChange, whyNotGrant, whyNotRemove, type Me } from './user-can.ts';

const as = (role: RoleName): Me => ({
  userId: role,
  isSuperAdmin: role === 'super_admin',
  holds: (permission) => hasPermission(roleMatrix[role], permission),
});
const role = (name: RoleName) => fallbackRoles.find(({ roleId }) => roleId === name)!;
const user = (...roles: RoleName[]) =>
  ({ id: roles[0], email: 'kim@lanyard.test', roles }) as unknown as User;

test('a role is granted by those who hold all of it', () => {
  expect(whyNotGrant(as('admin'), role('license_manager'))).toBeNull();
  expect(whyNotGrant(as('license_manager'), role('admin'))).toMatch(/^You lack users:/);
});

test('super_admin is granted by super admins only', () => {
  expect(whyNotGrant(as('super_admin'), role('super_admin'))).toBeNull();
  expect(whyNotGrant(as('admin'), role('super_admin'))).toBe('Only a super admin can grant this role');
});

test('nobody makes a service account of themselves: they could not sign in again', () => {
  const refusal = 'You cannot make yourself a service account';
  expect(whyNotGrant(as('admin'), role('service_account'), 'admin')).toBe(refusal);
  expect(whyNotGrant(as('admin'), role('service_account'), 'viewer')).toBeNull();
});

test('whoever may do more, with any of their roles, cannot be changed', () => {
  expect(whyNotChange(as('admin'), user('viewer'), fallbackRoles)).toBeNull();
  expect(whyNotChange(as('admin'), user('viewer', 'super_admin'), fallbackRoles)).toBe(
    'kim@lanyard.test may do more than you, so you cannot change this user.',
  );
});

test('users cannot delete themselves', () => {
  expect(whyNotRemove(as('admin'), user('admin'), 'delete')).toBe('You cannot delete yourself.');
  expect(whyNotRemove(as('admin'), user('viewer'), 'delete')).toBeNull();
});
