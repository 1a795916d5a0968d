import { chromium, type Browser, type Page } from '@playwright/test';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../server/root.ts';

/** Plain JavaScript, because the tests run it before the build. */
const chromiumFinder = path.join(root, 'tools/find-chromium.mjs');

export async function startBrowser(): Promise<Browser> {
  const { findChromium } = (await import(pathToFileURL(chromiumFinder).href)) as {
    findChromium: () => Promise<string | undefined>;
  };
  const executablePath = await findChromium();
  if (!executablePath) throw new Error('No Chromium found');
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: ['--disable-gpu', ...sandbox] });
}

/** Signs in with the form. */
export async function signInAt(
  page: Page,
  url: string,
  { email, password }: { email: string; password: string },
): Promise<void> {
  if (!page.url().startsWith(url)) await page.goto(`${url}/login`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL((at) => !at.pathname.startsWith('/login'));
}
