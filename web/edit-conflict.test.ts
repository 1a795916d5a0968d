import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { conflictOf, storedVersion } from './edit-conflict.ts';

test('only a lost update is a conflict, and it names the stored version', () => {
  const conflict = new ApiError(409, 'Changed', {
    code: 'EDIT_CONFLICT',
    details: [{ path: 'updatedAt', message: 'version', current: '2026-11-20T09:00:00.000Z', yours: 'older' }],
  });
  expect(conflictOf(conflict)).toBe(conflict);
  expect(storedVersion(conflict)).toBe('2026-11-20T09:00:00.000Z');
  expect(conflictOf(new ApiError(409, 'x', { code: 'ALREADY_EXISTS' }))).toBeUndefined();
  expect(conflictOf(new Error('x'))).toBeUndefined();
});
