import { expect, test } from 'vitest';
import { passwordsProblem } from './password-rules.ts';

test.each([
  ['', '', 'Please enter password details', 'newPassword'],
  ['secret-1', '', 'Please fill in all password fields', 'confirmPassword'],
  ['', 'secret-1', 'Please fill in all password fields', 'newPassword'],
  ['12345', '12345', 'New password must be at least 6 characters long', 'newPassword'],
  ['12345', '54321', 'New password must be at least 6 characters long', 'newPassword'],
  ['secret-1', 'secret-2', 'New passwords do not match', 'confirmPassword'],
  ['sixsix', 'sixsix', undefined, undefined],
])('%j and %j: %s', (one, two, message, field) =>
  expect(passwordsProblem(one, two)).toEqual(message && { message, field }),
);
