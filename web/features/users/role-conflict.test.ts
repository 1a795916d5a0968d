import { expect, test } from 'vitest';
import type { Permission } from '../../../contract/permissions.ts';
import { ApiError } from '../../api-error.ts';
import { conflictRows } from './role-conflict.ts';

const read: Permission = { resource: 'licenses', action: 'read' };
const update: Permission = { resource: 'licenses', action: 'update' };
const keys: Permission = { resource: 'api_keys', action: 'read' };

test('shows what differs between two edits of a role, of the matrix only the cells that do', () => {
  const conflict = new ApiError(409, 'Changed', {
    details: [
      { path: 'description', message: 'differs', current: 'at night', yours: 'by day' },
      { path: 'requiresSecondFactor', message: 'differs', current: true, yours: false },
      { path: 'permissions', message: 'differs', current: [read, update], yours: [read, keys] },
      { path: 'updatedAt', message: 'version', current: '2026-11-20T09:00:00.000Z', yours: 'older' },
    ],
  });
  expect(conflictRows(conflict)).toEqual([
    { field: 'Description', theirs: 'at night', yours: 'by day' },
    { field: 'Requires a second factor', theirs: 'Yes', yours: 'No' },
    { field: 'Licenses: update', theirs: 'Allowed', yours: 'Not allowed' },
    { field: 'API Keys: read', theirs: 'Not allowed', yours: 'Allowed' },
  ]);
});
