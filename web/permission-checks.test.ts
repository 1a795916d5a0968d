import { describe, expect, test } from 'vitest';
import { resourceActions, type Permission } from '../contract/permissions.ts';
import { permissionChecks } from './permission-checks.ts';
import { reachable } from './shell/navigation.ts';

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

const named: Record<keyof typeof checks.can, string[]> = {
  viewUsers: ['users:read'],
  createUsers: ['users:create'],
  updateUsers: ['users:update'],
  deleteUsers: ['users:delete'],
  viewLicenses: ['licenses:read'],
  createLicenses: ['licenses:create'],
  updateLicenses: ['licenses:update'],
  deleteLicenses: ['licenses:delete'],
  viewCustomers: ['customers:read'],
  createCustomers: ['customers:create'],
  updateCustomers: ['customers:update'],
  deleteCustomers: ['customers:delete'],
  viewReleases: ['releases:read'],
  createReleases: ['releases:create'],
  updateReleases: ['releases:update'],
  deleteReleases: ['releases:delete'],
  viewApiKeys: ['api_keys:read'],
  createApiKeys: ['api_keys:create'],
  updateApiKeys: ['api_keys:update'],
  deleteApiKeys: ['api_keys:delete'],
  viewAudit: ['audit:read'],
  exportAudit: ['audit:export'],
  viewAnalytics: ['analytics:read'],
  exportAnalytics: ['analytics:export'],
  updatePolicies: ['rollouts:update'],
  manageRollouts: ['rollouts:create', 'rollouts:update'],
};

const all = Object.entries(resourceActions).flatMap(([resource, actions]) =>
  actions.map((action) => ({ resource, action }) as Permission),
);

test('every named check is answered by its own permission and by no other', () => {
  for (const permission of all) {
    const { can } = permissionChecks({ permissions: [permission], roles: [] });
    const word = `${permission.resource}:${permission.action}`;
    const granted = Object.entries(can).flatMap(([name, may]) => (may ? [name] : []));
    const expected = Object.entries(named).flatMap(([name, words]) => (words.includes(word) ? [name] : []));
    expect(granted, word).toEqual(expected);
  }
});

/** The links of the navigation that a right shows, besides Today. */
const linksOf: Record<string, string[]> = {
  'licenses:read': ['Licenses'],
  'customers:read': ['Customers'],
  'analytics:read': ['Analytics'],
  'releases:read': ['Releases', 'Machines'],
  'users:read': ['Users'],
  'audit:read': ['Audit Log'],
  'api_keys:read': ['API Keys'],
};

test('every link of the navigation is shown by its own permission and by no other', () => {
  for (const permission of all) {
    const word = `${permission.resource}:${permission.action}`;
    const shown = reachable([permission]);
    const expected = linksOf[word] ?? [];
    expect(shown.map(({ label }) => label)).toEqual(expected.length > 0 ? ['Today', ...expected] : []);
  }
});
