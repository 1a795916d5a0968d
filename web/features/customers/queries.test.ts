import { expect, test, vi } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
const calls = await import('./queries.ts');

test('no call about one customer is made without its id', async () => {
  const input = { name: 'Northside', country: 'DE' };
  const fetch = vi.fn();
  vi.stubGlobal('fetch', fetch);
  const attempts: (() => unknown)[] = [
    () => calls.customerQuery('').queryFn!({} as never),
    () => calls.updateCustomer('', input),
    () => calls.softDeleteCustomer({ customerId: '', updatedAt: '' }),
    () => calls.restoreCustomer({ customerId: '', updatedAt: '' }),
    () => calls.hardDeleteCustomer('', ''),
    () => calls.checkCustomerDeletable(''),
  ];
  for (const attempt of attempts) expect(attempt).toThrow('Customer ID is required');
  expect(fetch).not.toHaveBeenCalled();
});
