import { releases } from '../../contract/releases.ts';
import { uploads } from '../../contract/uploads.ts';
import { noise, program } from '../binaries.ts';
import { fileOnDisk } from './releases.ts';
import { dialog, expect, expectStatus, goTo, signInAs, type ConsoleServer, type Page } from './support.ts';

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

/** A program on disk that the page sends in two chunks: the service, or a proxy before it, does not take it in one request. */
export async function fileOfTwoChunks(page: Page, name: string): Promise<string> {
  expectStatus(page, 413);
  await page.route(
    `**${uploads.direct.path}`,
    (route) => route.fulfill({ status: 413, contentType: 'text/html', body: '<h1>Too large</h1>' }),
    { times: 1 },
  );
  return fileOnDisk(name, program(9 * megabyte, noise(9 * megabyte, name)));
}

let minor = 0;

/** A version that no other test uses. */
export const version = () => `7.${++minor}.0`;

export async function openForm(page: Page, server: ConsoleServer): Promise<void> {
  await (page.url() === 'about:blank'
    ? signInAs(page, 'binary_manager', create, server)
    : goTo(page, create));
  await expect(field(page, 'Version')).not.toHaveValue('');
}
