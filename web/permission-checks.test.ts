import { describe, expect, test } from 'vitest';
import { permissionChecks } from './permission-checks.ts';

const checks = permissionChecks({
  permissions: [
    { resource: 'customers', action: 'read' },
    { resource: 'rollouts', action: 'update' },
    { resource: 'analytics', action: 'export' },
  ],
  roles: [{ name: 'viewer' }, { name: 'support_agent' }],
});

describe('helpers', () => {
  test('permissions', () => {
    expect(checks.hasPermission('customers', 'read')).toBe(true);
    expect(checks.hasPermission('customers', 'delete')).toBe(false);
    expect(
      checks.hasAnyPermission([
        ['users', 'read'],
        ['customers', 'read'],
      ]),
    ).toBe(true);
    expect(
      checks.hasAllPermissions([
        ['users', 'read'],
        ['customers', 'read'],
      ]),
    ).toBe(false);
  });

  test('roles', () => {
    expect(checks.hasRole('viewer')).toBe(true);
    expect(checks.hasAnyRole(['admin', 'viewer'])).toBe(true);
    expect(checks.hasAllRoles(['admin', 'viewer'])).toBe(false);
    expect(checks.hasAllRoles(['viewer', 'support_agent'])).toBe(true);
  });
});

test('named checks: export is its own right, and either of two rights manages rollouts', () => {
  expect(checks.can).toMatchObject({
    viewCustomers: true,
    createCustomers: false,
    viewAnalytics: false,
    exportAnalytics: true,
    manageRollouts: true,
  });
});
