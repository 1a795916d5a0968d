import type { License } from '../../contract/licenses.ts';
import { rowOf, type Page } from './support.ts';

export const searchBox = (page: Page) => page.getByPlaceholder('Search licenses...');
export const list = (page: Page) => page.getByRole('region', { name: 'Licenses' });
export const row = (page: Page, license: Pick<License, 'licenseKey'>) =>
  rowOf(list(page), license.licenseKey);

export const tab = (page: Page, name: string) => page.getByRole('tab', { name });

/** The fields of a license that come from its customer. */
export const of = ({ customerId }: { customerId: string }) => ({ customerId });

export const only = (customer: { customerId: string }) => `/licenses?customer=${customer.customerId}`;
