import { expect, test } from 'vitest';
import { pagesOf, rangeText } from './pages.ts';

test.each([
  [51, null, 2],
  [50, null, 1],
  [0, null, 1],
  [10_050, 10_000, 201],
  [10_100, 10_000, 201],
  [10_100, null, 202],
])('of %d rows, %j of which can be skipped, there are %d pages', (total, mostSkipped, pages) =>
  expect(pagesOf({ pageSize: 50, total, mostSkipped })).toBe(pages),
);

test('a page says which rows it shows, and the last that can be reached how the others are found', () => {
  const list = { pageSize: 50, total: 10_100, mostSkipped: 10_000 };
  expect([200, 201].map((page) => rangeText({ page, ...list }))).toEqual([
    'Showing 9,951 to 10,000 of 10,100 results',
    'Showing 10,001 to 10,050 of 10,100 results; search or export them to see the others',
  ]);
  expect(rangeText({ page: 2, pageSize: 50, total: 51, mostSkipped: null })).toBe(
    'Showing 51 to 51 of 51 results',
  );
});
