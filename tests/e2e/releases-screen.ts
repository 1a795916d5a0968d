import { releases, type Release } from '../../contract/releases.ts';
import type { ConsoleServer, Page } from './support.ts';

export const list = (page: Page) => page.getByRole('region', { name: 'Releases', exact: true });
export const versions = (page: Page) => list(page).getByRole('heading', { level: 2 });
export const row = (page: Page, release: Release) =>
  list(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: `Download ${release.version} (${release.channel})` }) });

/** The dialog in which a release is edited. */
export const editing = (page: Page) => page.getByRole('dialog', { name: /^Edit Release/ });
export const box = (page: Page, name: string) => editing(page).getByRole('checkbox', { name });
export const press = (page: Page, name: string) =>
  editing(page).getByRole('button', { name, exact: true }).click();
export const rollout = (page: Page) => editing(page).getByRole('button', { name: /^Rollout Configuration/ });
export async function unfoldRollout(page: Page): Promise<void> {
  if ((await rollout(page).getAttribute('aria-expanded')) === 'false') await rollout(page).click();
}

export const stepField = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

/** Replaces the text of a field as a user does, and leaves it. */
export async function type(page: Page, name: string, text: string) {
  const field = stepField(page, name);
  await field.click();
  await field.press('ControlOrMeta+a');
  await field.press('Delete');
  await field.pressSequentially(text);
  await field.press('Tab');
}

export const stored = (server: ConsoleServer, { id }: Release) =>
  server.admin.ok(releases.get, { params: { releaseId: id } });

export const bin = (server: ConsoleServer, { id }: Release, reason = 'No longer needed') =>
  server.admin.ok(releases.softDelete, { params: { releaseId: id }, body: { reason } });

let word = 0;

/** Release notes that only the releases of one test have, to search by. */
export const newWord = () => `subject${++word}x`;
