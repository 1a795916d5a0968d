import { expect, test } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { conflictRows } from './user-conflict.ts';

const conflict = new ApiError(409, 'Changed', {
  code: 'EDIT_CONFLICT',
  details: [
    { path: 'name', message: 'differs', current: '', yours: 'Kim' },
    { path: 'role', message: 'differs', current: 'super_admin', yours: 'viewer' },
    { path: 'updatedAt', message: 'stored', current: '2026-11-20T12:00:00.000Z', yours: 'older' },
  ],
});

test('says what differs, in words', () => {
  expect(conflictRows(conflict)).toEqual([
    { field: 'Name', theirs: '—', yours: 'Kim' },
    { field: 'Role', theirs: 'Super Admin', yours: 'Viewer' },
  ]);
});
