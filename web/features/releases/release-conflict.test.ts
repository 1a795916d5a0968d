import { expect, test } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { conflictRows } from './release-conflict.ts';

const conflict = new ApiError(409, 'Changed', {
  code: 'EDIT_CONFLICT',
  details: [
    { path: 'isDraft', message: 'differs', current: false, yours: true },
    { path: 'releaseNotes', message: 'differs', current: 'Fixes', yours: null },
    {
      path: 'acceptableFailures',
      message: 'differs',
      current: 2.5,
      yours: null,
    },
    { path: 'updatedAt', message: 'version', current: '2026-11-20T09:00:00.000Z', yours: 'older' },
  ],
});

test('shows what differs in words', () => {
  expect(conflictRows(conflict)).toEqual([
    { field: 'Draft Release', theirs: 'No', yours: 'Yes' },
    { field: 'Release Notes', theirs: 'Fixes', yours: '—' },
    { field: 'Acceptable failures', theirs: '2.5 %', yours: 'As the previous release' },
  ]);
});
