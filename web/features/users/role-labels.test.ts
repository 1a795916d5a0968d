import { expect, test } from 'vitest';
import { roleLabel } from '../../../contract/permissions.ts';
import { fallbackRoles, roleWithDescription } from './role-labels.ts';

test.each([
  ['super_admin', 'Super Admin'],
  ['viewer', 'Viewer'],
  ['night_shift_2', 'Night Shift 2'],
  ['', ''],
])('%j is shown as %j', (name, expected) => expect(roleLabel(name)).toBe(expected));

test('the roles that stand in are the seven of the spec, with their descriptions', () => {
  expect(fallbackRoles.map(roleWithDescription)).toEqual([
    'Super Admin – complete system control and configuration',
    'Admin – day-to-day system management',
    'License Manager – licence operations without customer management',
    'Binary Manager – manage application updates and releases',
    'Support Agent – customer support operations',
    'Viewer – read-only access for stakeholders',
    'Service Account – API-only access for desktop applications',
  ]);
});
