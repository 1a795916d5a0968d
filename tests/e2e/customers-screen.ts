import type { Page } from './support.ts';

/** The search of the list. */
export const search = (page: Page) => page.getByPlaceholder('Search customers...');
/** The names in the list. */
export const names = (page: Page) =>
  page.getByRole('region', { name: 'Customers' }).locator('tbody tr td:nth-child(2)');
