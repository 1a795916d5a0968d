import type { Locator } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { notices } from '../../contract/notices.ts';
import { makeApiKey, makeCustomer, makeLicense, unique, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { expectNoShift, observe, observed } from './observe.ts';
import { makeRelease } from './releases.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectInSight,
  expectNoMoreFailures,
  expectStatus,
  goByKeys,
  goTo,
  heading,
  navigation,
  quiet,
  signInAs,
  test,
} from './support.ts';

const built = JSON.parse(readFileSync(join(import.meta.dirname, '../../dist/build.json'), 'utf8')) as {
  build: number;
  commit: string;
};

test('a screen has the focus, also when it is chosen before the first one is there', async ({
  page,
  server,
}) => {
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const link = document.querySelector<HTMLElement>('nav a[href="/audit"]');
      if (!link) return;
      observer.disconnect();
      link.focus();
      link.click();
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(page.getByRole('main', { name: 'Audit Log' })).toBeFocused();
});

test('all of it goes by keyboard', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();

  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();

  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: 'Search licenses' })).toBeFocused();
  await page.keyboard.type('c?');
  await expect(page.getByRole('searchbox', { name: 'Search licenses' })).toHaveValue('c?');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('searchbox', { name: 'Search licenses' })).toHaveValue('');
  await page.getByRole('main').focus();
  // nothing is there to undo, and the text of a field that was left does not come back
  await page.keyboard.press('Control+z');
  await expect(page.getByRole('main')).toBeFocused();
  await expect(page.getByRole('searchbox', { name: 'Search licenses' })).toHaveValue('');

  // A letter in the first second of a page follows no `g`.
  await page.evaluate(() => {
    const early = new KeyboardEvent('keydown', { key: 'r', bubbles: true });
    Object.defineProperty(early, 'timeStamp', { value: 700 });
    document.body.dispatchEvent(early);
  });
  await expect(page).toHaveURL(/\/licenses/);

  // Screen readers say what gets the focus, with the name that it has then.
  await page.evaluate(() => {
    const seen: string[] = [];
    addEventListener('focusin', () => seen.push(document.querySelector('main:focus h1')?.textContent ?? ''));
    Object.assign(window, { seen });
  });
  await goByKeys(page, 'c');
  await expect(heading(page, 'Customers')).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();
  expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toContain('Customers');
  await page.keyboard.press('c');
  await expect(dialog(page, 'Add Customer')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Add Customer')).toBeHidden();
  await goByKeys(page, 'l');
  await expect(heading(page, 'License Management')).toBeVisible();

  await page.keyboard.press('?');
  const help = dialog(page, 'Keyboard shortcuts');
  await expect(help).toContainText('Search everywhere, or run a command');
  await expect(help).toContainText('Go to Customers');
  // No field has the focus: the dialog itself keeps keys from the page below.
  await page.keyboard.press('c');
  await goByKeys(page, 'u');
  await expect(page.getByRole('dialog')).toHaveCount(1);
  await expect(page).toHaveURL(/\/licenses$/);
  await expectAccessible(page);
  await page.goBack();
  await expect(heading(page, 'Customers')).toBeVisible();
  await expect(help.locator(':focus')).toBeVisible();
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck({ force: true });
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();
  await page.keyboard.press('c');
  await page.keyboard.press('?');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('combobox', { name: 'Type a command or search' });
  await expect(palette).toBeFocused();
  await expect(page.getByRole('dialog')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
  // the same key of a Bulgarian keyboard
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'к', code: 'KeyK', modifiers: 2 });
  await expect(palette).toBeFocused();
});

test('an address with a slash at its end, in capitals or encoded is that of the screen', async ({
  page,
  server,
}) => {
  const { name, customerId } = await makeCustomer(server.admin);
  await signInAs(page, 'super_admin', `/Customers/?search=${encodeURIComponent(name)}#top`, server);
  await expect(page).toHaveURL(`/customers?search=${encodeURIComponent(name).replaceAll('%20', '+')}#top`);
  for (const [typed, path, word] of [
    ['/licenses/', '/licenses', 'Create License'],
    ['/Licenses', '/licenses', 'Create License'],
    ['/%4Cicenses', '/licenses', 'Create License'],
    [`/Customers/${customerId}/`, `/customers/${customerId}`, 'Edit Customer'],
  ] as const) {
    await page.goto(typed);
    await page
      .getByRole('main')
      .getByRole('button', { name: /^(Create License|Edit)$/ })
      .first()
      .click();
    await expect(dialog(page, word)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page).toHaveURL(path);
  }
});

test('a narrow window folds the navigation', async ({ page, server }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.addInitScript(() => Object.defineProperty(navigator, 'userAgent', { value: 'iPad; Mac OS X' }));
  await signInAs(page, 'viewer', '/licenses', server);
  const menu = page.getByRole('button', { name: 'Navigation' });
  const link = page.getByRole('link', { name: 'Customers', exact: true });
  await expect(menu).toHaveAttribute('aria-expanded', 'false');
  await expect(link).toBeHidden();
  await expect(page.getByRole('button', { name: 'Logout' })).toBeInViewport({ ratio: 1 });
  const name = page.getByRole('banner').getByText('Robin viewer');
  expect((await name.boundingBox())!.width, 'the name is there to see').toBeGreaterThan(60);
  await menu.click();
  await expect(link).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(link).toBeHidden();
  await page.keyboard.press('Enter');
  await expect(link).toBeVisible();
  // of the dialog alone, also while its code loads, and then not into nowhere
  const loaded = await holdBack(page, '**/HelpDialog-*.js');
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
  await page.keyboard.press('Escape');
  await expect(link).toBeVisible();
  loaded();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expect(page.getByRole('dialog')).toContainText('⌘P');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(link).toBeVisible();
  await link.press('Escape');
  await expect(menu).toBeFocused();
  await expect(link).toBeHidden();
  await menu.press('Enter');
  await expectAccessible(page);
  await link.click();
  await expect(heading(page, 'Customers')).toBeVisible();
  await expect(link).toBeHidden();

  await test.step('another screen closes it, however it was reached, and so does the focus of the screen', async () => {
    await menu.click();
    await page.getByRole('banner').getByTitle(/@/).click();
    await expect(heading(page, 'Account')).toBeVisible();
    await expect(link).toBeHidden();
    await menu.click();
    await page.goBack();
    await expect(heading(page, 'Customers')).toBeVisible();
    await expect(link).toBeHidden();
    await menu.click();
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).focus();
    await page.keyboard.press('Tab');
    await expect(link).toBeHidden();
  });

  await test.step('in a field of a Mac, Ctrl+K deletes to the end of the line', async () => {
    const field = page.getByPlaceholder('Search customers...');
    const isTaken = page.evaluate(
      () =>
        new Promise((tell) =>
          addEventListener('keydown', (event) => event.key === 'k' && tell(event.defaultPrevented)),
        ),
    );
    await field.press('Control+k');
    expect(await isTaken).toBe(false);
    await field.press('Meta+k');
    await expect(page.getByRole('combobox', { name: 'Type a command or search' })).toBeFocused();
  });
});

test('on a phone lists are cards with their buttons', async ({ page, server }) => {
  const name = unique('Klinikum der Universität Heidelberg-Mannheim, Radiologie');
  const { customerId } = await makeCustomer(server.admin, {
    name,
    email: 'radiology.department.archive@universitaetsklinikum-heidelberg.example',
  });
  const license = await makeLicense(server.admin, { customerId });
  const { headers } = await makeApiKey(server.admin);
  await validateOn(server.api(headers), license, `desktop-${'0123456789abcdef'.repeat(4)}`);
  await makeRelease(server, {}, { releaseNotes: 'What is new in it '.repeat(9) });

  await observe(page);
  // the font loads after everything that the first screen needs, as on a slow connection
  await page.route(/inter-latin-wght/, async (route) => {
    await page.waitForLoadState('domcontentloaded');
    await route.continue();
  });
  await page.setViewportSize({ width: 390, height: 844 });
  await signInAs(page, 'super_admin', '/licenses', server);
  const first = (region: string, text: string) =>
    page
      .getByRole('region', { name: region, exact: true })
      .getByRole('row')
      .filter({ hasText: text })
      .first();
  const walk: [path: string, region: string, row: string, inSight: string[]][] = [
    [
      `/licenses?search=${license.licenseKey}`,
      'Licenses',
      license.licenseKey,
      ['Active', 'Copy license key', 'Activations', 'Revoke'],
    ],
    [`/licenses?activations=${license.licenseKey}`, 'Activations', 'desktop-', ['Active', 'Deactivate']],
    [`/customers?search=${name}`, 'Customers', name, ['Germany', 'Edit', 'Delete']],
    ['/releases', 'Releases', 'What is new', ['Edit', 'Delete', 'More actions']],
    ['/audit', 'Audit entries', server.printed.email, ['Success']],
    ['/account', 'Open sessions', 'This session', ['This session', 'End']],
  ];
  for (const [path, region, text, names] of walk) {
    await page.goto(path);
    const row = first(region, text);
    for (const word of names) {
      const part = row
        .getByRole('button', { name: word })
        .or(row.getByText(word, { exact: true }))
        .first();
      await part.scrollIntoViewIfNeeded();
      await expectInSight(part);
    }
    const wider = await page.evaluate(() =>
      [...document.querySelectorAll('html, [role=region], [role=dialog]')]
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => box.getAttribute('aria-label') ?? box.tagName),
    );
    expect(wider, `${path} scrolls sideways`).toEqual([]);
    await expectNoShift(page, path);
    await expectAccessible(page);
  }

  await goTo(page, '/customers');
  await expectInSight(page.getByRole('checkbox', { name: 'Select all rows' }));
  const byName = page.getByRole('columnheader', { name: 'Name' });
  await byName.getByRole('button').click();
  await expect(byName).toHaveAttribute('aria-sort', 'descending');

  await signInAs(page, 'viewer', `/licenses?edit=${license.licenseId}`, server);
  await expectInSight(dialog(page, 'View License').getByRole('button', { name: 'Copy license key' }));
});

test('a screen that fails keeps the shell, says what happened and can be reloaded', async ({
  page,
  server,
}) => {
  await makeCustomer(server.admin);
  await signInAs(page, 'super_admin', '/customers', server);
  await page.route(`**${customers.list.path}?*`, (route) =>
    route.fulfill({ json: { success: true, data: [null] } }),
  );
  await page.goto('/licenses/new');
  await expect(heading(page, '500 - Something went wrong')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText(/Cannot .* null/);
  await expect(navigation(page)).toBeVisible();
  await expect(page.getByRole('main', { name: '500 - Something went wrong' })).toBeVisible();
  await expect(page.locator('main img')).toHaveJSProperty('naturalWidth', 112);
  await expectAccessible(page);
  await page.unroute(`**${customers.list.path}?*`);
  await page.getByRole('button', { name: 'Reload page' }).click();
  await expect(heading(page, 'New License')).toBeVisible();

  // without a server, nothing is reloaded, which would end in a page of the browser
  expectStatus(page, 'aborted');
  await page.route(/AuditPage-|healthz/, (route) => route.abort());
  await page.getByRole('link', { name: 'Audit Log' }).click();
  await expect(page.getByRole('alert')).toHaveText(/The server cannot be reached\./);
  await page.getByRole('button', { name: 'Reload page' }).click();
  await expect(page.getByRole('alert')).toHaveText(/The server cannot be reached\./);
  await page.unroute(/AuditPage-|healthz/);
  await page.getByRole('link', { name: 'Customers' }).click();
  await expect(heading(page, 'Customers')).toBeVisible();
  await page.getByRole('link', { name: 'Audit Log' }).click();
  await expect(heading(page, 'Audit Log')).toBeVisible();

  await page.addInitScript(() => {
    const get = () => () => {
      throw new Error('');
    };
    // Only an error without a message shows the console's own text.
    Object.defineProperty(Intl.NumberFormat.prototype, 'format', { get });
  });
  await page.goto('/customers');
  await expect(heading(page, '500 - Something went wrong')).toBeVisible();
  await expect(page.getByText('An unexpected error occurred')).toBeVisible();
});

test('what a viewer sees of an error, of an unknown URL, and in other colors', async ({ page, server }) => {
  await signInAs(page, 'viewer', '/today', server);

  await test.step('an error of the server is told in its words', async () => {
    expectStatus(page, 400);
    const json = { error: 'That did not work', details: [{ path: 'email', message: 'is odd' }] };
    await page.route(`**${licenses.list.path}?*`, (route) => route.fulfill({ status: 400, json }));
    await goTo(page, '/licenses');
    const error = page.getByRole('alert');
    await expect(error.getByRole('heading', { name: 'Error loading licenses' })).toBeVisible();
    await expect(error.locator('p')).toHaveText('That did not work\nDetails: email: is odd', {
      useInnerText: true,
    });
    await page.unroute(`**${licenses.list.path}?*`);
    await expectNoMoreFailures(page);
  });

  await test.step('an unknown URL shows a message inside the shell, with build and commit at the bottom right', async () => {
    await goTo(page, '/nowhere/at/all');
    await expect(heading(page, 'Page not found')).toBeVisible();
    await expect(navigation(page)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Go to the start page' }).click();
    await expect(page).toHaveURL('/licenses');

    const info = page.getByText(new RegExp(`^\\d+\\.\\d+\\.\\d+ · build ${built.build} · ${built.commit}$`));
    await expect(info).toBeVisible();
    const box = (await info.boundingBox())!;
    const { width, height } = page.viewportSize()!;
    expect(width - (box.x + box.width)).toBeLessThan(30);
    expect(height - (box.y + box.height)).toBeLessThan(30);
  });

  await test.step('light or dark: follows the system until the user chooses', async () => {
    const html = page.locator('html');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await expect(html).toHaveAttribute('data-mantine-color-scheme', 'light');
    await page.getByRole('button', { name: 'Use dark colors' }).click();
    await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark');
    await page.reload();
    await expect(page.getByRole('button', { name: 'Use light colors' })).toBeVisible();
    await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark');
  });
});

test('a first visit of the licenses takes 20 requests, nothing jumps, and the policy refuses nothing', async ({
  page,
  server,
}) => {
  await observe(page);
  // counts that load late, as on a slow connection, with the tab bar on the screen
  await page.route(/\/api\/v1\/licenses\?/, async (route) => {
    await expect(page.getByRole('tab', { name: 'Active' })).toBeVisible();
    await route.continue();
  });
  // its own license: how wide the rows of other tests are would count too
  const { licenseKey } = await makeLicense(server.admin, {});
  await signInAs(page, 'viewer', `/licenses?search=${licenseKey}`, server);
  await expect(page.getByRole('tab', { name: /^Active \d/ })).toBeVisible();
  await quiet(page);
  const requests = await page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      // live queries are asked again after 15 s
      .filter(({ startTime }) => startTime < 15_000)
      .map(({ name }) => name),
  );
  expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(20);
  expect((await observed(page)).refused).toEqual([]);
  await expectNoShift(page, '/licenses');
});

test('a screen waits 5 s at most for its notices, of which one line is shown, and the others when asked for', async ({
  page,
  server,
}) => {
  const clock = { now: '2026-11-23T16:00:00Z', newest: '2026-12-24T16:00:00Z', releasesDue: 2 };
  const waiting = { requestId: 'one', requestedBy: 'Kim Sato', subject: '4.2.1', what: 'published' };
  const json = {
    success: true,
    data: { paused: [], approvals: [waiting], storageDown: true, storageForeign: null, clock },
  };
  await page.route(`**${notices.list.path}`, (route) => route.fulfill({ json }));
  const answer = await holdBack(page, `**${notices.list.path}`);
  await page.clock.install();
  await makeCustomer(server.admin);
  const isAsked = page.waitForRequest(`**${notices.list.path}`);
  // the five seconds may be over once the page has loaded
  const opening = signInAs(page, 'super_admin', '/customers', server);
  await isAsked;
  await expect(heading(page, 'Customers')).toHaveCount(0);
  await opening;
  await page.clock.fastForward(5000);
  await expect(heading(page, 'Customers')).toBeVisible();
  answer();
  await expect(page.getByText('the storage is unavailable')).toBeVisible();
  const others = [page.getByText('Permanent deletion is paused'), page.getByText('asks for your approval')];
  const heightOf = (one: Locator) => one.evaluate((text) => text.closest('[data-notice]')!.clientHeight);
  for (const one of others) expect(await heightOf(one)).toBe(1);
  const table = page.getByRole('region', { name: 'Customers' });
  const before = (await table.boundingBox())!.y;
  await page.getByRole('button', { name: 'and 2 more' }).press('Enter');
  for (const one of others) await expect.poll(() => heightOf(one)).toBe(30);
  expect((await table.boundingBox())!.y).toBe(before + 60);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show One Notice' }).press('Enter');
  for (const one of others) await expect.poll(() => heightOf(one)).toBe(1);
});
