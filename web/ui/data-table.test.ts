import { expect, test } from 'vitest';
import { nextSort, rangeOf, withSelected } from './data-table.ts';

test('a click on a header sorts in the first direction of the column, then in the other, then no more', () => {
  const name = { id: 'name', firstSort: 'asc' } as const;
  expect(nextSort(name, '-createdAt')).toBe('name');
  expect(nextSort(name, 'name')).toBe('-name');
  expect(nextSort(name, '-name')).toBeUndefined();
  const seats = { id: 'seats', firstSort: 'desc' } as const;
  expect([undefined, '-seats', 'seats'].map((sort) => nextSort(seats, sort))).toEqual([
    '-seats',
    'seats',
    undefined,
  ]);
});

test('selects and deselects rows, and keeps those of other pages', () => {
  expect([...withSelected(new Set(['elsewhere']), ['a', 'b'], true)]).toEqual(['elsewhere', 'a', 'b']);
  expect([...withSelected(new Set(['elsewhere', 'a', 'b']), ['a', 'b'], false)]).toEqual(['elsewhere']);
});

test('a range goes in both directions; without a start it is one row', () => {
  const ids = ['a', 'b', 'c', 'd'];
  expect(rangeOf(ids, 'b', 'd')).toEqual(['b', 'c', 'd']);
  expect(rangeOf(ids, 'd', 'b')).toEqual(['b', 'c', 'd']);
  expect(rangeOf(ids, undefined, 'c')).toEqual(['c']);
  expect(rangeOf(ids, 'gone', 'c')).toEqual(['c']);
});
