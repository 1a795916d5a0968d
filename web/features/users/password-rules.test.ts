import { expect, test } from 'vitest';
import { passwordsProblem } from './password-rules.ts';

test.each([
  ['', '', 'Please enter password details'],
  ['secret-1', '', 'Please fill in all password fields'],
  ['', 'secret-1', 'Please fill in all password fields'],
  ['12345', '12345', 'New password must be at least 6 characters long'],
  ['12345', '54321', 'New password must be at least 6 characters long'],
  ['secret-1', 'secret-2', 'New passwords do not match'],
  ['sixsix', 'sixsix', undefined],
])('%j and %j: %s', (one, two, expected) => expect(passwordsProblem(one, two)).toBe(expected));
