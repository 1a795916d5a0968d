import { expect, test } from 'vitest';
import { changeOf, isNoticed, roleSentences } from './role-consequences.ts';
import { valuesOf, withCell } from './role-form.ts';
import { fallbackRoles } from './role-labels.ts';

const viewer = fallbackRoles.find(({ roleId }) => roleId === 'viewer')!;
const edited = changeOf(viewer, {
  ...withCell(withCell(valuesOf(viewer), 'licenses:update', true), 'customers:read', false),
  requiresSecondFactor: true,
});

test('what people of a role gain and lose is named, and how many they are', () => {
  expect(roleSentences(edited, { people: 3, withoutSecondFactor: 2, openRequests: 1 })).toEqual([
    '3 people have this role.',
    'Gained with the next call: Licenses: update.',
    'Lost with the next call, unless another role grants it: Customers: read.',
    '1 change that they asked for can be approved only if they keep the permission.',
    '2 of them have no second factor and may do nothing but set one up, from the next call.',
    '1 change that they asked for can be approved only once who asked has a second factor.',
  ]);
  expect(roleSentences(edited, { people: 1, withoutSecondFactor: 0, openRequests: 0 })).toContain(
    'All of them have a second factor already.',
  );
  expect(roleSentences(edited, { people: 0, withoutSecondFactor: 0, openRequests: 0 })).toEqual([
    'No active user has this role.',
  ]);
});

test('a changed description has no consequences; a removed requirement is listed', () => {
  expect(isNoticed(changeOf(viewer, { ...valuesOf(viewer), description: 'Reads' }))).toBe(false);
  const freed = changeOf({ ...viewer, requiresSecondFactor: true }, valuesOf(viewer));
  expect(roleSentences(freed, { people: 2, withoutSecondFactor: 1, openRequests: 1 })).toEqual([
    '2 people have this role.',
    'This role no longer asks them for a second factor.',
  ]);
});
