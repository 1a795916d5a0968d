import { expect, test } from 'vitest';
import { ApiError, refusalOf, sentenceBesideFields, sentenceOf } from './api-error.ts';

const refused = (error: string, path?: string, message = '') =>
  new ApiError(422, error, { error, details: path ? [{ path, message }] : [] });

test('the server’s sentence is preferred to the words of the spec', () => {
  expect(sentenceOf(refused('Said so'), 'Failed to update user')).toBe('Said so');
  expect(sentenceOf(new ApiError(500, 'Request failed with status 500'), 'Failed to update user')).toBe(
    'Failed to update user',
  );
  expect(sentenceOf(new TypeError('x is not a function'), 'Failed to update user')).toBe(
    'Failed to update user',
  );
});

test('a server that is not there is named', () =>
  expect(sentenceOf(new ApiError(0, 'The server cannot be reached.'), 'Failed to create user')).toBe(
    'Failed to create user. The server cannot be reached.',
  ));

test('of a change without an answer nothing says that it was not made', () => {
  const lost = new ApiError(0, 'Your change may have been applied.');
  lost.isUnanswered = true;
  expect(sentenceOf(lost, 'Failed to create user')).toBe('Your change may have been applied.');
  expect(refusalOf('Not extended', lost)).toBe('Your change may have been applied.');
  expect(refusalOf('Not extended', refused('It was revoked.'))).toBe('Not extended: It was revoked.');
});

test('an error shown at a field is not repeated', () => {
  const grant = refused('role: You cannot grant admin', 'role', 'You cannot grant admin');
  expect(sentenceBesideFields(grant, 'Failed to create user')).toBeUndefined();
  const wrong = refused('The current password is not right.', 'currentPassword', 'Is not right');
  expect(sentenceBesideFields(wrong, 'Failed to create user')).toBeUndefined();
  const taken = refused('There is a user with this email already.', 'email', 'Is in use already');
  expect(sentenceBesideFields(taken, 'Failed to create user')).toBe(
    'There is a user with this email already.',
  );
  expect(sentenceBesideFields(null, 'Failed to create user')).toBeUndefined();
});
