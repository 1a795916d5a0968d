import { expect, test } from 'vitest';
import { machinesSearch } from './machines-search.ts';

test('the last page that can be asked for is the last one that an address names', () => {
  expect(machinesSearch({ page: 201 }).page).toBe(201);
  expect(machinesSearch({ page: 202 }).page).toBeUndefined();
});
