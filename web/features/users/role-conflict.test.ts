import { expect, test } from 'vitest';
import { conflictRows } from './role-conflict.ts';

test('shows in words what two people changed of a role', () => {
  const details = [
    { path: 'description', message: 'differs', current: 'at night', yours: 'by day' },
    { path: 'requiresSecondFactor', message: 'differs', current: true, yours: false },
  ];
  expect(conflictRows({ details })).toEqual([
    { field: 'Description', theirs: 'at night', yours: 'by day' },
    { field: 'Requires a second factor', theirs: 'Yes', yours: 'No' },
  ]);
});
