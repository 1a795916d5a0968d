import { customers } from '../../contract/customers.ts';
import { users } from '../../contract/users.ts';
import { makeApiKey, makeCustomer, makeLicense, unique } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { makeRelease } from './releases.ts';
import {
  comeBack,
  dialog,
  expect,
  expectAccessible,
  heading,
  expectStatus,
  placesOf,
  prolong,
  seenOn,
  goTo,
  signInAs,
  signInByForm,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Command palette' });
const field = (page: Page) => palette(page).getByRole('combobox', { name: 'Type a command or search' });
const selected = (page: Page) => palette(page).getByRole('option', { selected: true });
const choice = (page: Page, name: string | RegExp) => palette(page).getByRole('option', { name });

async function openLicenses(page: Page, server: ConsoleServer) {
  await (page.url() === 'about:blank'
    ? signInAs(page, 'super_admin', '/licenses', server)
    : goTo(page, '/licenses'));
  await expect(heading(page, 'License Management')).toBeVisible();
}

async function searchFor(page: Page, text: string) {
  await page.keyboard.press('Control+k');
  await field(page).fill(text);
}

test('what is typed right after Ctrl-K reaches the palette, and opens nothing behind it', async ({
  page,
  server,
}) => {
  // how long keys are held: of that, a busy machine may take ten seconds to press them
  await prolong(page, 15_000, 60_000);
  let late = 5500;
  let typed = () => {};
  let typing = new Promise<void>((resolve) => (typed = resolve));
  let meanwhile = async () => page.keyboard.type('omers');
  await page.route('**/assets/CommandPalette-*.js', async (route) => {
    await Promise.all([typing, new Promise((resolve) => setTimeout(resolve, late))]);
    await meanwhile();
    await route.continue();
  });
  await openLicenses(page, server);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('cust');
  typed();
  await expect(field(page)).toHaveValue('customers');
  await page.keyboard.type('.');
  await expect(field(page)).toHaveValue('customers.');
  await expect(page.getByRole('dialog')).toHaveCount(1);
  // but not what is typed elsewhere, once that is
  late = 0;
  typing = new Promise<void>((resolve) => (typed = resolve));
  const search = page.getByPlaceholder('Search licenses...');
  meanwhile = async () => {
    await search.click();
    await page.keyboard.type('abc');
    await expect(search).toHaveValue('abc');
  };
  await page.reload();
  await expect(search).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('cust');
  typed();
  await expect(field(page)).toHaveValue('cust');
  meanwhile = async () => {};
  late = 600;
  await page.reload();
  await page.getByRole('button', { name: 'Use dark colors' }).focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('customers');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/customers');
  await expect(page.getByRole('button', { name: 'Use dark colors' })).toBeVisible();
});

test('the command palette finds pages, actions, customers and licenses', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: 'Palette Hospital' });
  const { licenseId, licenseKey } = await makeLicense(server.admin, { customerId: customer.customerId });
  const key = await makeApiKey(server.admin, { name: 'Palette key' });
  const release = await makeRelease(server, { version: '61.4.2' });
  for (const one of 'ABCDEFG') await makeCustomer(server.admin, { name: `Palette Many ${one}` });
  // Mantine returns the focus after 10 ms: on a busy machine, where timers are late, the palette is gone by then.
  await page.addInitScript(() => {
    const start = window.setTimeout;
    const late = (ms: number) => (ms >= 10 && ms <= 50 ? ms + 300 : ms);
    Object.assign(window, { setTimeout: (run: () => void, ms: number) => start(run, late(ms)) });
  });
  await openLicenses(page, server);

  const search = page.getByRole('banner').getByRole('button', { name: /^Search/ });
  await search.press('Enter');
  await expect(field(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(search).toBeFocused();

  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
  await expect(choice(page, 'Go to Customers')).toBeVisible();
  await expect(choice(page, 'Create License')).toBeVisible();

  await expect(choice(page, /^All /)).toHaveCount(0);
  await field(page).fill('palette many');
  await expect(choice(page, /^Palette Many/)).toHaveCount(6);
  await choice(page, 'All customers with "palette many"').click();
  await expect(page).toHaveURL('/customers?search=palette+many');
  await expect(page.getByRole('row', { name: /^Palette Many/ })).toHaveCount(7);
  await searchFor(page, 'palette hosp');
  await choice(page, /^Palette Hospital/).click();
  await expect(page).toHaveURL(`/customers/${customer.customerId}`);
  await expect(palette(page)).toBeHidden();

  // on a page, also what can be done there
  await expect(heading(page, 'Palette Hospital')).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(choice(page, 'Refresh')).toBeVisible();
  await field(page).fill('edit');
  await expect(selected(page)).toHaveText('Edit');
  await page.keyboard.press('Enter');
  await expect(dialog(page, 'Edit Customer')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Edit Customer')).toBeHidden();

  await searchFor(page, licenseKey.toLowerCase());
  await expect(choice(page, new RegExp(`^${licenseKey}`))).toHaveCount(1);
  // Before any key is pressed, the first result is selected.
  await expect(selected(page)).toContainText('Palette Hospital · Active');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/licenses/${licenseId}`);
  await expect(heading(page, 'License')).toContainText(licenseKey);

  await searchFor(page, release.version);
  await choice(page, `Version ${release.version}`).click();
  await expect(page).toHaveURL(`/releases/${release.id}`);
  await expect(page).toHaveTitle('Windows (x64) · Release 61.4.2 · Lanyard');

  // before anything is typed, the records that were opened last, without the one on the screen
  await page.keyboard.press('Control+k');
  await expect(palette(page).locator('[data-action]').nth(0)).toHaveText(`License ${licenseKey}`);
  await expect(palette(page).locator('[data-action]').nth(1)).toHaveText('Palette Hospital');
  await expect(choice(page, /^Palette Hospital|^Release 61/)).toHaveCount(1);
  await expect(field(page)).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/licenses/${licenseId}`);
  await expect(page).toHaveTitle(`${licenseKey} · License · Lanyard`);

  await searchFor(page, 'create api');
  await choice(page, 'Create API Key').click();
  await expect(dialog(page, 'Create API Key')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await searchFor(page, key.keyPrefix);
  await choice(page, /^Palette key/).click();
  await expect(dialog(page, 'API Key Details')).toContainText('Palette key');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await page.getByRole('button', { name: 'Search or jump to' }).click();
  await field(page).fill('zzzz nothing like this');
  await expect(palette(page).getByText('Nothing found for "zzzz nothing like this"')).toBeVisible();
  await expect(palette(page).getByText(/^Searches/)).toBeHidden();
  await field(page).fill('');
  await expect(palette(page).getByText(/^Searches/)).toContainText(
    'Licenses (l:), Customers (c:), Releases (r:), Change requests (ch:), Machines (m:)',
  );
  await field(page).fill('l:');
  await expect(palette(page).getByRole('group', { name: 'Licenses' })).toContainText(/[A-Z0-9]{5}-/);
  await field(page).fill('c:');
  await expect(choice(page, 'All customers')).toBeVisible();
  await expect(palette(page).getByRole('group')).toHaveCount(1);
  await field(page).fill('cust: palette hosp');
  await expect(choice(page, 'Palette Hospital')).toBeVisible();
  await field(page).fill('l: palette hosp');
  await expect(choice(page, new RegExp(`^${licenseKey}`))).toBeVisible();
  await expect(choice(page, /^Palette Hospital/)).toHaveCount(0);
  await field(page).fill('');
  await expect(choice(page, 'Go to Customers')).toBeVisible();
  await expectAccessible(page);

  // as another role, only what that role may read
  await expect(choice(page, `License ${licenseKey}`)).toBeVisible();
  await choice(page, 'Go to Users').click();
  await page.getByRole('tab', { name: 'Roles' }).click();
  await page.getByRole('button', { name: /^Binary Manager/ }).click();
  await page.getByRole('button', { name: 'See the Console as This Role' }).click();
  await page.keyboard.press('Control+k');
  await expect(choice(page, 'Release 61.4.2 Windows (x64)')).toBeVisible();
  await expect(choice(page, /^License|^Palette Hospital/)).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Exit' }).click();
  await page.getByRole('button', { name: 'Search or jump to' }).click();

  // the next user sees nothing of it
  await choice(page, `License ${licenseKey}`).click();
  await expect(page.getByRole('link', { name: /^Back to/ })).toBeVisible();
  await page.keyboard.press('Control+k');
  await choice(page, 'Log out').click();
  await signInByForm(page, (await server.person('viewer')).email);
  await expect(heading(page, 'License')).toContainText(licenseKey);
  await expect(page.getByRole('link', { name: /^Back to/ })).toHaveCount(0);
  await page.getByRole('button', { name: 'Search or jump to' }).click();
  await expect(choice(page, 'Go to Customers')).toBeVisible();
  await expect(choice(page, /^Create/)).toHaveCount(0);
  await expect(choice(page, /^License|^Release 61|^Palette/)).toHaveCount(0);
});

test('what was asked for is given up when typing goes on', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/analytics', server);
  await expect(page.getByRole('heading', { level: 1, name: 'License Analytics' })).toBeVisible();
  const calls = /search=palettes\+?$|search=palettes&/;
  const givenUp = new Set<string>();
  page.on('requestfailed', (request) => {
    if (calls.test(request.url())) givenUp.add(new URL(request.url()).pathname);
  });
  // Never responds.
  const asked: string[] = [];
  await page.route(calls, (route) => void asked.push(route.request().url()));
  await page.keyboard.press('Control+K');
  await field(page).fill('palettes');
  await expect.poll(() => asked.length).toBe(5);
  await field(page).fill('palettes go on');
  await expect.poll(() => givenUp.size).toBe(5);
  await expect(palette(page).getByText('Nothing found for "palettes go on"')).toBeVisible();
});

test('a source of the palette that fails hides none of the others, and is named', async ({
  page,
  server,
}) => {
  await makeCustomer(server.admin, { name: 'Lone Palette Clinic' });
  expectStatus(page, 500, 'aborted');
  await page.route(`**${users.list.path}?*`, (route) => route.fulfill({ status: 500, body: '{}' }));
  await page.route('**/users-palette-*.js', (route) => route.abort());
  await openLicenses(page, server);
  await searchFor(page, 'audit');
  await expect(palette(page).getByRole('status')).toHaveText('Could not be searched: records');
  await expect(choice(page, 'Go to Audit Log')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.unroute('**/users-palette-*.js');
  await searchFor(page, 'lone palette');
  await expect(choice(page, /^Lone Palette Clinic/)).toBeVisible();
  await expect(palette(page).getByRole('status')).toHaveText('Could not be searched: Users');
  await expectAccessible(page);
});

test('what is selected, results with other letters, and where the palette leads', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/licenses', server);

  await test.step('what is selected in the palette stays selected when results come or are refreshed', async () => {
    for (const name of ['Heirloom Hospital', 'Heirloom Laboratory'])
      await makeCustomer(server.admin, { name });
    await openLicenses(page, server);
    await searchFor(page, 'heirloom');
    await expect(selected(page)).toContainText('Heirloom Hospital');
    await page.keyboard.press('ArrowDown');
    await expect(selected(page)).toContainText('Heirloom Laboratory');
    const named = await field(page).getAttribute('aria-activedescendant');
    await expect(selected(page)).toHaveAttribute('id', named ?? '');

    // A new result appears above it.
    await makeCustomer(server.admin, { name: 'Heirloom Apothecary' });
    const again = page.waitForResponse((answer) => answer.url().includes('search=heirloom'));
    await comeBack(page);
    await again;
    await expect(choice(page, /^Heirloom Apothecary/)).toBeVisible();
    await expect(selected(page)).toHaveCount(1);
    await expect(selected(page)).toContainText('Heirloom Laboratory');
    await page.keyboard.press('ArrowUp');
    await expect(selected(page)).toContainText('Heirloom Hospital');
    await page.keyboard.press('Enter');
    await expect(heading(page, 'Heirloom Hospital')).toBeVisible();
  });

  await test.step('results with other letters than plain ones', async () => {
    await openLicenses(page, server);
    await page.keyboard.press('Control+k');

    await test.step('a customer that is named without accents comes before the licenses that its name leads to', async () => {
      const { customerId, name } = await makeCustomer(server.admin, { name: unique('Zürichberg') });
      const { licenseKey } = await makeLicense(server.admin, { customerId });
      await field(page).fill('zurichberg');
      await expect(choice(page, new RegExp(`^${licenseKey}`))).toBeVisible();
      await expect(selected(page)).toHaveText(new RegExp(`^${name}`));
    });

    await test.step('the id of a machine stays whole after a name in Hebrew', async () => {
      const { customerId } = await makeCustomer(server.admin, { name: 'מרפאה' });
      const license = await makeLicense(server.admin, { customerId });
      const hostname = unique('scanner');
      await seenOn(server, license, 'machine-he', { hostname });
      await field(page).fill(hostname);
      const machine = choice(page, new RegExp(hostname)).filter({ hasText: '2D2V2NHABCSA' });
      await expect(machine).toBeVisible();
      const fromLeft = ['מרפאה', '2D2V', 'ABCSA'];
      expect(await placesOf(machine, fromLeft)).toEqual(fromLeft);
    });
    await page.keyboard.press('Escape');
  });

  await test.step('the command palette leads to trash, recycle bin and account, changes the colors and signs out', async () => {
    await openLicenses(page, server);
    const choose = async (typed: string, name: string) => {
      await searchFor(page, typed);
      await choice(page, name).click();
    };
    await choose('trash', 'Go to Soft Deleted customers');
    await expect(page).toHaveURL('/customers/trash');
    await choose('trash', 'Go to Release Recycle Bin');
    await expect(page).toHaveURL('/releases/trash');
    await choose('account', 'Go to Account');
    await expect(page).toHaveURL('/account');
    await choose('dark', 'Use dark colors');
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
    await choose('logout', 'Log out');
    await expect(page).toHaveURL(/\/login/);
  });
});

test('Enter before anything is found opens the first result once it is there', async ({ page, server }) => {
  const { customerId } = await makeCustomer(server.admin, { name: 'Unhurried Hospital' });
  const load = await holdBack(page, '**/customers-palette-*.js');
  const come = await holdBack(page, `**${customers.list.path}?*search=unhurried*`);
  await openLicenses(page, server);
  await searchFor(page, 'c: unhurried');
  await expect(palette(page).getByRole('status')).toHaveText('Searching…');
  const asked = page.waitForRequest((request) => request.url().includes('search=unhurried'));
  await field(page).press('Enter');
  load();
  await asked;
  come();
  await expect(page).toHaveURL(`/customers/${customerId}`);
});
