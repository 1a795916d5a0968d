import { expect, test, vi } from 'vitest';
import { ApiError } from '../../api-error.ts';

/** A browser's storage, as far as the client asks for it when it is loaded. */
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('localStorage', { getItem: () => null });

const { problemBesideFields, problemOf, rolesQuery } = await import('./users.ts');

const refused = (error: string, path?: string, message = '') =>
  new ApiError(422, error, { error, details: path ? [{ path, message }] : [] });

test('the server’s sentence is preferred to the words of the spec', () => {
  expect(problemOf(refused('Said so'), 'Failed to update user')).toBe('Said so');
  expect(problemOf(new ApiError(500, 'Request failed with status 500'), 'Failed to update user')).toBe(
    'Failed to update user',
  );
  expect(problemOf(new TypeError('x is not a function'), 'Failed to update user')).toBe(
    'Failed to update user',
  );
});

test('a server that is not there is named', () =>
  expect(problemOf(new ApiError(0, 'The server cannot be reached.'), 'Failed to create user')).toBe(
    'Failed to create user. The server cannot be reached.',
  ));

test('what a field says is not said twice', () => {
  const grant = refused('role: You cannot grant admin', 'role', 'You cannot grant admin');
  expect(problemBesideFields(grant, 'Failed to create user')).toBeUndefined();
  const taken = refused('There is a user with this email already.', 'email', 'Is in use already');
  expect(problemBesideFields(taken, 'Failed to create user')).toBe(
    'There is a user with this email already.',
  );
  expect(problemBesideFields(null, 'Failed to create user')).toBeUndefined();
});

test('the roles are kept for 10 minutes', () =>
  expect(rolesQuery).toMatchObject({ staleTime: 600_000, gcTime: 600_000 }));
