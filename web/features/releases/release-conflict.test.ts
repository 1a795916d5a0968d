import { expect, test } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { conflictOf, conflictRows, storedVersion } from './release-conflict.ts';

const conflict = new ApiError(409, 'Changed', {
  code: 'EDIT_CONFLICT',
  details: [
    { path: 'isDraft', message: 'differs', current: false, yours: true },
    { path: 'releaseNotes', message: 'differs', current: 'Fixes', yours: null },
    {
      path: 'failureThreshold',
      message: 'differs',
      current: { percent: 5, minimumInstalls: 50 },
      yours: null,
    },
    { path: 'updatedAt', message: 'version', current: '2026-11-20T09:00:00.000Z', yours: 'older' },
  ],
});

test('shows what differs in words, and knows the stored version', () => {
  expect(conflictRows(conflict)).toEqual([
    { field: 'Draft Release', theirs: 'No', yours: 'Yes' },
    { field: 'Release Notes', theirs: 'Fixes', yours: '—' },
    { field: 'Failure threshold', theirs: 'more than 5 % of at least 50', yours: '—' },
  ]);
  expect(storedVersion(conflict)).toBe('2026-11-20T09:00:00.000Z');
});

test('tells a lost update from other failures', () => {
  expect(conflictOf(conflict)).toBe(conflict);
  expect(conflictOf(new ApiError(409, 'x', { code: 'ALREADY_EXISTS' }))).toBeUndefined();
});
