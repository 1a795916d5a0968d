import { expect, test } from 'vitest';
import { customerSearch } from './customer-search.ts';

test('the last page of machines that can be asked for is the last one that an address names', () => {
  expect(customerSearch({ page: 10_001 }).page).toBe(10_001);
  expect(customerSearch({ page: 10_002 }).page).toBeUndefined();
});
