import { describe, expect, test } from 'vitest';
import { differences, valueText } from './differences.ts';

describe('differences', () => {
  test('names what changed first, and keeps the order of the record', () => {
    const before = { id: '1', name: 'A', phone: '1', email: null };
    const after = { id: '1', name: 'B', phone: null, email: null };
    expect(differences(before, after)).toEqual([
      { field: 'name', kind: 'changed', before: 'A', after: 'B' },
      { field: 'phone', kind: 'changed', before: '1', after: null },
      { field: 'id', kind: 'same', before: '1', after: '1' },
      { field: 'email', kind: 'same', before: null, after: null },
    ]);
  });

  test('of a record that was made or removed are all its fields', () => {
    expect(differences(null, { a: 1 })).toEqual([{ field: 'a', kind: 'added', before: undefined, after: 1 }]);
    expect(differences({ a: 1 }, null)).toEqual([
      { field: 'a', kind: 'removed', before: 1, after: undefined },
    ]);
    expect(differences(null, null)).toEqual([]);
  });

  test('distinguishes a new field from one that was null', () => {
    expect(differences({ a: null }, { a: null, b: null }).map((d) => [d.field, d.kind])).toEqual([
      ['b', 'added'],
      ['a', 'same'],
    ]);
  });

  test('looks into records, and takes lists as a whole', () => {
    const before = { customer: { id: 'c', name: 'A' }, modules: ['x', 'y'], empty: {} };
    const after = { modules: ['y', 'x'], customer: { name: 'B', id: 'c' }, empty: {} };
    expect(differences(before, after).map((d) => [d.field, d.kind])).toEqual([
      ['modules', 'changed'],
      ['customer.name', 'changed'],
      ['customer.id', 'same'],
      ['empty', 'same'],
    ]);
  });

  test('of lists of records do not depend on the order of their fields', () => {
    expect(differences({ l: [{ a: 1, b: 2 }] }, { l: [{ b: 2, a: 1 }] })[0]!.kind).toBe('same');
    expect(differences({ l: [{ a: 1 }] }, { l: [{ a: 1, b: undefined }] })[0]!.kind).toBe('changed');
  });
});

test.each([
  [null, null],
  [undefined, null],
  ['', null],
  [[], null],
  [false, 'false'],
  [0, '0'],
  [['a', null, 'b'], 'a, –, b'],
  [[{ a: 1 }], '{"a":1}'],
  [{}, '{}'],
])('%j is read as %j', (value, text) => {
  expect(valueText(value)).toBe(text);
});

test('the version of the record is listed after the intended changes', () => {
  const before = { updatedAt: '2026-11-20T09:00:00Z', name: 'Clinic', seats: 2 };
  const after = { updatedAt: '2026-11-20T09:05:00Z', name: 'Clinic', seats: 5 };
  expect(differences(before, after).map(({ field }) => field)).toEqual(['seats', 'updatedAt', 'name']);
});
