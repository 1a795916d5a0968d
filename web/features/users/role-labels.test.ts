import { expect, test } from 'vitest';
import { roleLabel } from '../../../contract/permissions.ts';

test.each([
  ['super_admin', 'Super Admin'],
  ['viewer', 'Viewer'],
  ['night_shift_2', 'Night Shift 2'],
  ['', ''],
])('%j is shown as %j', (name, expected) => expect(roleLabel(name)).toBe(expected));
