import { makeApiKey, makeCustomer, makeLicense, unique, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { of, only } from './licenses-screen.ts';
import { makeRelease } from './releases.ts';
import { findShown } from './screens.ts';
import {
  button,
  dialog,
  expect,
  expectStatus,
  goByKeys,
  goTo,
  heading,
  inDays,
  type Page,
  quiet,
  rowOf,
  seenOn,
  signInAs,
  test,
} from './support.ts';

/** Prints the page, and returns what is on the paper. */
async function printed(page: Page): Promise<{ text: string; cut: string[] }> {
  await page.evaluate(() => {
    const paper = matchMedia('print');
    paper.addEventListener('change', () => {
      if (!paper.matches) return;
      const isCut = (one: Element) => {
        const { overflowX, overflowY } = getComputedStyle(one);
        const { clientHeight, clientWidth, scrollHeight, scrollWidth } = one;
        return (
          clientHeight > 15 &&
          !one.matches('input, textarea') &&
          ((overflowY !== 'visible' && scrollHeight > clientHeight + 1) ||
            (overflowX !== 'visible' && scrollWidth > clientWidth + 1))
        );
      };
      const cut = [...document.querySelectorAll('body *')]
        .filter(isCut)
        .map((one) => one.outerHTML.slice(0, 100));
      Object.assign(window, { paper: { text: document.body.innerText, cut } });
    });
  });
  await page.pdf({ format: 'A4' });
  return page.evaluate(() => (window as never as { paper: { text: string; cut: string[] } }).paper);
}

test('a printed page is a document: what, when and by whom, nothing to press and nothing cut off', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, {
    customerId: customer.customerId,
    maxActivations: 12,
  });
  const hosts = [...Array(12).keys()].map((n) => `ONC-WS-${n + 10}`);
  for (const hostname of hosts) await validateOn(server.admin, license, `printed ${hostname}`, { hostname });
  await seenOn(server, license, `printed ${hosts[0]}`);
  await makeRelease(server, {});
  const shown = await findShown(server.admin);
  const { name } = await server.person('super_admin');
  await signInAs(page, 'super_admin', '/today', server);
  await button(page, 'Use dark colors').click();
  for (const [path, what] of [
    [`/customers/${customer.customerId}`, customer.name],
    [`/licenses/${license.licenseId}`, license.licenseKey],
    [`/machines/${shown.machine}`, 'Machine '],
    [`/releases/${shown.release}`, 'Release '],
    ['/audit', 'License created'],
    [`/licenses?search=${license.licenseKey}`, 'Valid Until'],
  ] as const) {
    await goTo(page, path);
    await quiet(page);
    const { text, cut } = await printed(page);
    expect(text).toContain(what);
    expect(text).toMatch(new RegExp(`Printed \\d+ \\w+ \\d{4}, [\\d:]+ by ${name}`));
    expect(text).toContain(server.url + path);
    for (const pressed of ['Keyboard shortcuts', 'API Keys', 'Logout', 'Export', 'Edit\n', 'Pause', 'Verify'])
      expect(text, path).not.toContain(pressed);
    expect(cut, `${path} is cut off`).toEqual([]);
    expect(text, path).not.toMatch(/\bago\b|just now|in a moment/);
    expect(text).not.toContain('parts are missing');
    if (what === customer.name) expect(text).toContain('Showing 1 to 10 of 12 results');
    if (what !== license.licenseKey) continue;
    for (const hostname of hosts) expect(text, path).toContain(hostname);
  }

  await test.step('in light colors, no column of a list is one letter wide, and checked boxes are visible', async () => {
    const html = page.locator('html');
    // as wide as A4 paper
    await page.setViewportSize({ width: 718, height: 1000 });
    for (const [path, label, header, text] of [
      ['/audit', 'Audit entries', 'Timestamp', 'Success'],
      ['/licenses', 'Licenses', 'License Key', 'Active'],
    ] as const) {
      await goTo(page, path);
      const list = page.getByRole('region', { name: label });
      await expect(rowOf(list, text).first()).toBeVisible();
      await page.emulateMedia({ media: 'print' });
      await expect(html).toHaveAttribute('data-mantine-color-scheme', 'light');
      const box = (await list.getByRole('columnheader', { name: header }).boundingBox())!;
      expect(box.height, header).toBeLessThan(40);
      await expect(list.getByRole('checkbox')).toHaveCount(0);
      await expect(page.getByRole('button', { name: /^(Revoke|Create License)$/ })).toHaveCount(0);
      // the build of the console
      await expect(page.getByRole('contentinfo')).toHaveCount(0);
      await page.emulateMedia({ media: 'screen' });
      await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark');
    }
    await goTo(page, `/licenses?edit=${license.licenseId}`);
    const box = dialog(page, 'Edit License').getByRole('checkbox').first();
    await expect(box).toBeVisible();
    await page.emulateMedia({ media: 'print' });
    await expect(box).toHaveCSS('print-color-adjust', 'exact');
    await page.emulateMedia({ media: null });
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  const answer = await holdBack(page, `**/customers/*/machines?*`);
  await page.goto(`/customers/${customer.customerId}`);
  await expect(heading(page, customer.name)).toBeVisible();
  expect((await printed(page)).text).toContain('Printed before all of it was loaded: parts are missing.');

  // asked by key, the console loads what is missing, and all rows, before it prints
  await page.evaluate(() => {
    window.print = () => {
      Object.assign(window, { paper: { text: document.body.innerText, cut: [] } });
      window.dispatchEvent(new Event('afterprint'));
    };
    Object.assign(window, { paper: undefined });
  });
  // offline, nothing more would come
  const isPrinted = () => page.waitForFunction(() => (window as never as { paper?: object }).paper);
  expectStatus(page, 'aborted');
  await page.context().setOffline(true);
  await page.waitForFunction(() => !navigator.onLine);
  // a page whose queries do not know it yet asks for the rows in vain, as this does for certain
  await page.evaluate(() => fetch('/healthz').catch(() => undefined));
  await page.keyboard.press('Control+p');
  await isPrinted();
  await page.context().setOffline(false);
  await page.evaluate(() => Object.assign(window, { paper: undefined }));
  // who leaves before prints nothing else
  await page.keyboard.press('Control+p');
  await goByKeys(page, 'c');
  await expect(heading(page, 'Customers')).toBeVisible();
  await quiet(page);
  await page.goBack();
  await expect(heading(page, customer.name)).toBeVisible();
  await page.keyboard.down('Control');
  await page.keyboard.down('p');
  // held
  await page.keyboard.down('p');
  await page.keyboard.up('p');
  await page.keyboard.up('Control');
  answer();
  const byKey = await page.waitForFunction(
    () => (window as never as { paper?: { text: string } }).paper?.text,
  );
  expect(await byKey.jsonValue()).toContain('Showing 1 to 12 of 12 results');
  for (const hostname of hosts) expect(await byKey.jsonValue()).toContain(hostname);
  await expect(page.getByText('Showing 1 to 10 of 12 results')).toBeVisible();
});

test('long names, the preview of an import, a whitelist and roles are printed whole', async ({
  page,
  server,
}) => {
  const { admin } = server;
  const customer = await makeCustomer(admin, { name: unique('Hospital of the Holy Spirit '.repeat(6)) });
  // Today shows those that end first
  await makeLicense(admin, { ...of(customer), validUntil: inDays(0.02) });
  const ipWhitelist = [...Array(40).keys()].map((n) => `10.0.0.${n}`);
  const key = await makeApiKey(admin, { ipWhitelist });
  await signInAs(page, 'super_admin', '/today', server);
  const expectWhole = async (what: string) => {
    await quiet(page);
    const { text, cut } = await printed(page);
    expect(cut, `${page.url()} is cut off`).toEqual([]);
    expect(text).toContain(what);
  };
  await expect(page.getByText(customer.name)).toBeVisible();
  await expectWhole(customer.name);

  await goTo(page, only(customer));
  await expect(page.getByRole('group', { name: 'Active filters' })).toContainText(customer.name);
  await expectWhole(customer.name);

  await goTo(page, '/licenses?dialog=import');
  const rows = [...Array(30).keys()].map((n) => `${customer.name},${n + 1}`);
  const modal = dialog(page, 'Import Licenses');
  await modal.getByRole('textbox', { name: 'CSV' }).fill(['Customer,Max Activations', ...rows].join('\n'));
  await expect(modal.getByRole('status')).toHaveText('30 licenses without an error.');
  await expectWhole('30 licenses without an error.');

  await goTo(page, `/api-keys?key=${key.id}`);
  await expect(dialog(page, 'API Key Details').getByRole('listitem')).toHaveCount(40);
  await expectWhole('10.0.0.39');

  await goTo(page, '/users?tab=roles');
  await expectWhole('super_admin');
});
