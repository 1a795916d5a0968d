import { expect, test } from 'vitest';
import { countryName } from '../contract/countries.ts';
import { roleLabel } from '../contract/permissions.ts';
import { ApiError } from './api-error.ts';
import { conflictOf, differingFields, mergedAttempt, orDash } from './edit-conflict.ts';
import { customerLabels, roleLabels, userLabels } from './field-labels.ts';

const version = '2026-11-20T09:00:00.000Z';
const conflict = (...differing: { path: string; current: unknown; yours: unknown }[]) =>
  new ApiError(409, 'Changed', {
    code: 'EDIT_CONFLICT',
    details: [...differing, { path: 'updatedAt', current: version, yours: 'older' }].map((detail) => ({
      ...detail,
      message: 'differs',
    })),
  });
const base = { name: 'Osaka Medical', phone: '1', email: null, updatedAt: 'older' };
const attempt = { payload: { name: 'Osaka Medical', phone: '2' }, base, round: 0 };

test('only a lost update is a conflict', () => {
  expect(conflictOf(conflict())).toBeInstanceOf(ApiError);
  expect(conflictOf(new ApiError(409, 'x', { code: 'ALREADY_EXISTS' }))).toBeUndefined();
  expect(mergedAttempt(new Error('x'), attempt)).toBeUndefined();
});

test('changes that only the other user made are taken over, and the edit continues from the stored version', () => {
  const error = conflict(
    { path: 'name', current: 'Osaka Medical Center', yours: 'Osaka Medical' },
    { path: 'phone', current: '1', yours: '2' },
  );
  const merged = mergedAttempt(error, attempt);
  expect(merged?.clash).toBeUndefined();
  expect(merged?.attempt.payload).toEqual({ name: 'Osaka Medical Center', phone: '2' });
  expect(merged?.attempt.base).toMatchObject({
    name: 'Osaka Medical Center',
    phone: '1',
    updatedAt: version,
  });
});

test('the user is asked only about fields that both changed', () => {
  const error = conflict(
    { path: 'name', current: 'Osaka Medical Center', yours: 'Osaka Medical' },
    { path: 'phone', current: '3', yours: '2' },
  );
  const merged = mergedAttempt(error, attempt);
  expect(merged?.clash?.details.map(({ path }) => path)).toEqual(['phone']);
  expect(merged?.attempt.payload).toEqual({ name: 'Osaka Medical Center', phone: '2' });
});

test('of a record whose fields decide together, nothing is taken over', () => {
  const differences = [
    { path: 'name', current: 'Osaka Medical Center', yours: 'Osaka Medical' },
    { path: 'phone', current: '1', yours: '2' },
  ];
  const merged = mergedAttempt(conflict(...differences), attempt, true);
  expect(merged?.clash?.details.map(({ path }) => path)).toEqual(['name', 'phone']);
  expect(merged?.attempt.payload).toEqual(attempt.payload);
  // the other user changed the same, or nothing of it
  expect(mergedAttempt(conflict(differences[1]!), attempt, true)?.clash).toBeUndefined();
  // this user changed nothing else
  const theirs = mergedAttempt(conflict(differences[0]!), attempt, true);
  expect([theirs?.clash, theirs?.attempt.payload]).toEqual([
    undefined,
    { name: 'Osaka Medical Center', phone: '2' },
  ]);
});

test('after repeated conflicts the user is notified', () => {
  expect(mergedAttempt(conflict(), { ...attempt, round: 5 })).toBeUndefined();
});

test('shows the fields of the form that differ, in words', () => {
  const clash = conflict(
    { path: 'name', current: '', yours: 'Kim' },
    { path: 'phone', current: null, yours: '123' },
    { path: 'role', current: 'super_admin', yours: undefined },
    { path: 'country', current: 'DE', yours: 'JP' },
    { path: 'requiresSecondFactor', current: true, yours: false },
  );
  const labels = { ...customerLabels, ...userLabels, ...roleLabels };
  const words = { country: orDash(countryName), role: orDash(roleLabel) };
  expect(differingFields(clash, labels, words)).toEqual([
    { field: 'Name', theirs: '—', yours: 'Kim' },
    { field: 'Phone', theirs: '—', yours: '123' },
    { field: 'Role', theirs: 'Super Admin', yours: '—' },
    { field: 'Country', theirs: 'Germany', yours: 'Japan' },
    { field: 'Requires a second factor', theirs: 'Yes', yours: 'No' },
  ]);
});
