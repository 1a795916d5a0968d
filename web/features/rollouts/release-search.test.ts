import { expect, test } from 'vitest';
import { releaseSearch } from './release-search.ts';

test('the last page that can be asked for is the last one that an address names', () => {
  expect(releaseSearch({ page: 201 }).page).toBe(201);
  expect(releaseSearch({ page: 202 }).page).toBeUndefined();
});
