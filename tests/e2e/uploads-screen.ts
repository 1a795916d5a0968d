import { releases } from '../../contract/releases.ts';
import { dialog, expect, signInAs, type ConsoleServer, type Page } from './support.ts';

export const megabyte = 1024 * 1024;
export const create = '/releases?dialog=create';
export const chunks = /\/binaries\/upload\/chunk\//;
export const modal = (page: Page) => dialog(page, 'Upload New Release');
export const tray = (page: Page) => page.getByRole('region', { name: 'Uploads' });
export const field = (page: Page, name: string) => modal(page).getByRole('textbox', { name, exact: true });
export const select = (page: Page, name: string) => modal(page).getByRole('combobox', { name });
export const box = (page: Page, name: string) => modal(page).getByRole('checkbox', { name });
export const press = (page: Page, name: string) =>
  modal(page).getByRole('button', { name, exact: true }).click();
export const choose = (page: Page, path: string) =>
  modal(page).locator('input[type=file]').setInputFiles(path);

export const found = async (server: ConsoleServer, version: string) =>
  server.admin.ok(releases.list, { query: { search: version } });

let minor = 0;

/** A version that no other test uses. */
export const version = () => `7.${++minor}.0`;

export async function openForm(page: Page, server: ConsoleServer): Promise<void> {
  await signInAs(page, 'binary_manager', create, server);
  await expect(field(page, 'Version')).not.toHaveValue('');
}
