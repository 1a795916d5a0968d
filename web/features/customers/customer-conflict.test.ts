import { expect, test } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { conflictRows } from './customer-conflict.ts';

test('shows the fields of the modal that differ, in words', () => {
  const conflict = new ApiError(409, 'Changed', {
    details: [
      { path: 'country', message: 'differs', current: 'DE', yours: 'JP' },
      { path: 'phone', message: 'differs', current: null, yours: '123' },
      { path: 'updatedAt', message: 'version', current: '2026-11-20T09:00:00.000Z', yours: 'older' },
    ],
  });
  expect(conflictRows(conflict)).toEqual([
    { field: 'Country', theirs: 'Germany', yours: 'Japan' },
    { field: 'Phone', theirs: '—', yours: '123' },
  ]);
});
