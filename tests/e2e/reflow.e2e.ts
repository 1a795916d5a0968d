import type { Locator } from '@playwright/test';
import { analytics } from '../../contract/analytics.ts';
import { modules } from '../../contract/modules.ts';
import { noPolicy, policies } from '../../contract/policies.ts';
import { releases } from '../../contract/releases.ts';
import { rbac, users } from '../../contract/users.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { makeApiKey, makeCustomer, makeLicense, revoke, unique, validateOn } from '../factories.ts';
import { password } from '../api-client.ts';
import { makeRelease } from './releases.ts';
import { findShown, screens } from './screens.ts';
import {
  button,
  expect,
  expectInSight,
  expectStatus,
  goTo,
  inDays,
  quiet,
  seenOn,
  signInAs,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';

// WCAG 1.4.10: 1280 pixels at 400 %.
const magnified = { width: 320, height: 256 };
const laptop = { width: 1280, height: 720 };
// 1920 by 800 at 150 %
const lowWindow = { width: 1280, height: 533 };
// half of a laptop's screen
const halfWindow = { width: 820, height: 614 };
// A4 between the margins of a browser
const paper = { width: 718, height: 1047 };
test.use({ viewport: magnified });
/** With one record of each kind, the list on these is as empty as that of a search which finds nothing. */
const emptyLikeOthers = new Set(['licenses-revoked', 'licenses-expired', 'audit-failed']);

test('a long word does not widen a screen, push anything out of view or get lost', async ({
  page,
  freshServer: server,
}) => {
  test.setTimeout(1_800_000);
  await makeRecordsOfLongWords(server);
  const shown = await findShown(server.admin);
  await signInAs(page, 'super_admin', '/today', server);
  const browser = await page.context().newCDPSession(page);
  const enlarge = async () => {
    await browser.send('Page.setFontSizes', { fontSizes: { standard: 24 } });
    // Chromium computes lengths in rem again only where a style of the root changes
    for (const size of ['100%', '']) {
      await page.evaluate((text) => (document.documentElement.style.fontSize = text), size);
      await drawn(page);
    }
  };
  for (const screen of screens) {
    if (screen.signedOut || screen.before || emptyLikeOthers.has(screen.name)) continue;
    if (screen.failure) expectStatus(page, screen.failure);
    await page.goto(server.url + screen.path(shown));
    await quiet(page);
    expect.soft(await beyondTheEdge(page), screen.name).toEqual([]);
    expect.soft(await cutTexts(page), screen.name).toEqual([]);
    expect.soft(await scrolledSideways(page), screen.name).toEqual([]);
    expect.soft(await coveredFocus(page), screen.name).toEqual([]);
    await page.setViewportSize(laptop);
    await drawn(page);
    expect.soft(await squeezedLists(page), screen.name).toEqual([]);
    await page.setViewportSize(lowWindow);
    await drawn(page);
    expect.soft(await overlappingParts(page), `${screen.name} in a low window`).toEqual([]);
    await page.setViewportSize(halfWindow);
    await drawn(page);
    expect.soft(await underBuild(page), `${screen.name} in half a window`).toEqual([]);
    await page.setViewportSize(paper);
    await page.emulateMedia({ media: 'print' });
    // browsers print smaller what is wider, and cut what is more than twice as wide
    expect.soft(await beyondTheEdge(page, 2), `${screen.name} on paper`).toEqual([]);
    await page.emulateMedia({ media: null });
    await page.setViewportSize(laptop);
    const small = async () => (await enlarge(), smallTexts(page));
    await expect.poll(small, `${screen.name} in a large font`).toEqual([]);
    expect.soft(await beyondTheEdge(page), `${screen.name} in a large font`).toEqual([]);
    expect.soft(await cutTexts(page), `${screen.name} in a large font`).toEqual([]);
    // the next screen is loaded with it
    await browser.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
    await page.setViewportSize(magnified);
  }

  await page.setViewportSize(laptop);
  await page.goto(`${server.url}/customers`);
  const name = 'W'.repeat(200);
  const tooltip = page.getByRole('tooltip', { name });
  await page.getByRole('rowheader', { name }).hover();
  await expect(tooltip).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(tooltip).toBeHidden();
  await page.getByRole('row', { name }).getByRole('checkbox').focus();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name })).toBeFocused();
  await expect(tooltip).toBeVisible();

  // of a name that is read from the right, the left end is cut
  const { customer: customerId } = shown;
  const license = await makeLicense(server.admin, { customerId });
  await seenOn(server, license, 'from the right', { hostname: arabic });
  for (const list of ['/machines', `/customers/${customerId}`]) {
    await page.goto(server.url + list);
    const host = page
      .getByRole('cell', { name: arabic })
      .or(page.getByRole('rowheader', { name: arabic }))
      .first();
    await expect(host).toBeVisible();
    expect(await host.evaluate(isBeginningShown), list).toBe(true);
  }
});

const arabic = 'محطة-الأشعة'.repeat(12);

function isBeginningShown(cell: Element): boolean {
  const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode()!;
  const letter = document.createRange();
  letter.setStart(text, 0);
  letter.setEnd(text, 1);
  const [{ left, right }, box] = [letter.getBoundingClientRect(), cell.getBoundingClientRect()];
  return left >= box.left && right <= box.right;
}

test('on a phone with a font of twice the size, values have the width of the screen', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin, { name: unique('Universitätsklinikum') });
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  await seenOn(server, license, unique('large-font'), { hostname: 'ONC-WS-08' });
  await page.setViewportSize({ width: 390, height: 844 });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
  await signInAs(page, 'super_admin', '/users?tab=roles', server);
  await expect(button(page, 'See the Console as This Role')).toBeVisible();
  expect(await beyondTheEdge(page)).toEqual([]);
  const inList = `/machines?search=${encodeURIComponent(customer.name)}`;
  for (const path of [inList, `/licenses/${license.licenseId}`]) {
    await page.goto(server.url + path);
    const name = page.getByRole('main').getByRole('link', { name: customer.name }).first();
    await expect.poll(async () => (await name.boundingBox())?.width, path).toBeGreaterThan(200);
  }
  await page.goto(`${server.url}/analytics`);
  await expect(page.getByRole('region', { name: 'Active Users', exact: true })).toBeVisible();
  await quiet(page);
  expect(await beyondTheEdge(page), 'the hidden hints of the charts').toEqual([]);
});

test('on a tablet or small laptop no list scrolls sideways', async ({ page, server }) => {
  const { admin } = server;
  const { customerId, name } = await makeCustomer(admin, {
    name: unique('Queen Elizabeth Hospital Leeds, Park'),
  });
  const known = await admin.ok(modules.list, {});
  const license = await makeLicense(admin, {
    customerId,
    maxActivations: 1,
    validUntil: inDays(20),
    moduleIds: known.slice(0, 5).map(({ moduleId }) => moduleId),
  });
  const revoked = await makeLicense(admin, { customerId });
  const facts = { platform: 'win32', architecture: 'x64', appVersion: '4.3.0-beta.3' };
  const machineId = unique('a station');
  await validateOn(admin, license, machineId, { hostname: 'PATH-WS-67', ...facts });
  const built = { ...facts, appVersion: `4.3.0-nightly.${'20261128'.repeat(6)}` };
  await validateOn(admin, revoked, unique('a station'), { hostname: 'PATH-WS-26', ...built });
  await revoke(admin, revoked);
  // refused: no seat is left
  await seenOn(server, license, unique('a station'), { hostname: 'PATH-WS-91', ...facts });
  const releaseNotes = 'For testers: new worklist and measurement tools, and what was wrong before.';
  const { version } = await makeRelease(server, { version: '50.1.0-beta.4' }, { releaseNotes });
  await signInAs(page, 'super_admin', '/today', server);
  for (const list of [
    `/licenses?customer=${customerId}`,
    `/licenses?customer=${customerId}&sort=validUntil`,
    `/licenses?customer=${customerId}&tab=revoked`,
    `/customers?search=${name}`,
    `/machines?customer=${customerId}`,
    `/machines/${machineHashOf(machineId)}`,
    `/releases?search=${version}`,
    '/users',
    '/api-keys',
    `/audit?resourceId=${license.licenseId}`,
  ]) {
    await page.goto(server.url + list);
    for (const width of [640, 768, 1023, 1024, 1200, 1280]) {
      await page.setViewportSize({ width, height: 768 });
      await expect(page.locator('tbody td').last()).toBeVisible();
      await expect.poll(() => scrolledSideways(page), `${list} at ${width} px`).toEqual([]);
    }
  }
  // there two lists are side by side
  await page.setViewportSize({ width: 2560, height: 1440 });
  await page.goto(`${server.url}/customers/${customerId}`);
  const listed = page.getByRole('region', { name: 'Machines of the customer' });
  await expect(listed.getByRole('link', { name: 'PATH-WS-26' })).toBeVisible();
  await expect.poll(() => scrolledSideways(page), 'a customer at 2560 px').toEqual([]);
  await page.setViewportSize({ width: 1280, height: 768 });
  await page.goto(`${server.url}/licenses?customer=${customerId}`);
  await page.locator('tr[data-row]').first().press('Space');
  await expect(page.getByRole('dialog').getByRole('link', { name: 'PATH-WS-67' })).toBeVisible();
  await expect(
    page.getByRole('dialog').getByText('All activations of this license are in use'),
  ).toBeVisible();
  await expect.poll(() => scrolledSideways(page), 'a license beside its list').toEqual([]);
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.goto(`${server.url}/audit?resourceId=${license.licenseId}`);
  const details = page.locator('td[data-label="Details"]').filter({ hasText: license.licenseKey });
  await expect(details.first()).toBeVisible();
  const cut = await details
    .locator('div')
    .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).length);
  expect(cut, 'is the rest of a summary on further lines?').toBe(0);

  // nothing to scroll, the line with version and build included
  await page.setViewportSize(lowWindow);
  await page.goto(`${server.url}/approvals`);
  await quiet(page);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBe(lowWindow.height);

  await page.setViewportSize({ width: 1024, height: 450 });
  await page.goto(`${server.url}/licenses?customer=${customerId}`);
  await page.locator('tr[data-row]').first().getByRole('button').last().click();
  await expect(page.getByRole('menu')).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('ArrowUp');
  await expectInSight(page.getByRole('menuitem', { name: 'Revoke' }));
  await page.goto(`${server.url}/licenses?dialog=create`);
  await page
    .getByRole('button', { name: /calendar/i })
    .first()
    .click();
  await expect(page.getByRole('dialog', { name: /^Calendar of/ })).toBeInViewport({ ratio: 1 });

  await page.setViewportSize({ width: 360, height: 330 });
  await page.goto(`${server.url}/users?dialog=create`);
  await page.getByRole('combobox', { name: 'Role' }).click();
  await expect(page.getByRole('listbox')).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('ArrowUp');
  await expectInSight(page.getByRole('option').last());
  for (const [path, opener] of [
    ['/licenses', 'Columns'],
    ['/audit', 'Chain whole'],
  ] as const) {
    await page.goto(server.url + path);
    await page.getByRole('button', { name: opener }).click();
    await expect(page.getByRole('dialog')).toBeInViewport({ ratio: 1 });
  }
});

test('on the way up with Tab, the header of a list or table covers nothing that has the focus', async ({
  page,
  server,
}) => {
  await page.setViewportSize(lowWindow);
  const family = unique('Tall');
  const made: { customerId: string; name: string }[] = [];
  for (let at = 0; at < 16; at++) made.push(await makeCustomer(server.admin, { name: `${family} ${at}` }));
  await signInAs(page, 'super_admin', `/customers?search=${family}`, server);
  const rows = page.getByRole('region', { name: 'Customers' }).locator('tr[data-row]');
  await expect(rows).toHaveCount(16);
  await expectBelowHeader(rows.getByRole('checkbox'), 'Customers');

  // figures of the ten largest customers
  const use = (one: { customerId: string; name: string }) => ({
    customerId: one.customerId,
    company: one.name,
    appVersion: '4.2.1',
    machines: 1,
    provenMachines: 0,
  });
  await page.route(`**${analytics.customers.path}?*`, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { data: object };
    const data = { ...json.data, versions: made.slice(0, 10).map(use) };
    await route.fulfill({ response, json: { ...json, data } });
  });
  await goTo(page, '/analytics');
  const figures = page.getByRole('region', { name: 'Versions in the Field, table' });
  await expect(figures.getByRole('link')).toHaveCount(10);
  await expectBelowHeader(figures.getByRole('link'), 'Versions in the Field, table');
});

/** Scrolls the list until its first row is behind its header, and goes there with Shift and Tab. */
async function expectBelowHeader(controls: Locator, list: string): Promise<void> {
  const page = controls.page();
  const header = page.getByRole('region', { name: list }).locator('thead th').first();
  await controls.nth(1).focus();
  await controls
    .first()
    .evaluate((one) => one.closest('[role="region"]')!.scrollTo(0, one.closest('tr')!.offsetTop - 4));
  await page.keyboard.press('Shift+Tab');
  const focused = page.locator('tr:first-child :focus');
  await expect(focused).toHaveCount(1);
  const [at, above] = await Promise.all([focused.boundingBox(), header.boundingBox()]);
  expect(at!.y, list).toBeGreaterThanOrEqual(above!.y + above!.height);
}

/** Parts that lie on the next one below them, by more than a subtitle is moved up. */
const overlappingParts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('main *')]
      .filter((part) => {
        const { display, flexDirection } = getComputedStyle(part.parentElement!);
        const height = getComputedStyle(part).overflow === 'visible' ? part.scrollHeight : part.offsetHeight;
        const next = part.nextElementSibling;
        return (
          display === 'flex' &&
          flexDirection === 'column' &&
          next?.checkVisibility() &&
          part.offsetHeight > 0 &&
          part.getBoundingClientRect().top + height > next.getBoundingClientRect().top + 10
        );
      })
      .map((part) => part.outerHTML.slice(0, 120)),
  );

/** What the line with version and build lies on. */
const underBuild = (page: Page) =>
  page.getByText(/^\d.* · build /).evaluateAll((lines) =>
    lines.flatMap((line) => {
      const { left, top, width, height } = line.getBoundingClientRect();
      return [0.1, 0.3, 0.5, 0.7, 0.9]
        .flatMap((part) => document.elementsFromPoint(left + part * width, top + height / 2))
        .filter((one) => one.matches('main :is(a, button, input, label, p, span, td)'))
        .map((one) => one.outerHTML.slice(0, 120));
    }),
  );

/** The frames after a change of the window or of the font have been drawn. */
const drawn = (page: Page) =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  });

/** Texts that do not grow to one and a half times of 10 px, the smallest. */
const smallTexts = (page: Page) =>
  page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const small = new Set<string>();
    while (texts.nextNode()) {
      const { parentElement: part, data } = texts.currentNode as Text;
      const size = part?.checkVisibility() && data.trim() && parseFloat(getComputedStyle(part).fontSize);
      if (size && size < 15 && !part?.closest('#recharts_measurement_span')) small.add(`${data}: ${size} px`);
    }
    return [...small];
  });

/** How wide the page is, and what widens it. */
const beyondTheEdge = (page: Page, times = 1) =>
  page.evaluate((most) => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= most * clientWidth) return [];
    const beyond = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().left + element.scrollWidth > clientWidth + 1,
    );
    return [`${scrollWidth} px`, ...beyond.slice(-5).map((element) => element.outerHTML.slice(0, 120))];
  }, times);

/** Words of the console itself that are cut. */
const cutTexts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('body *')]
      .filter(
        (element) =>
          element.clientWidth > 1 &&
          element.scrollWidth > element.clientWidth &&
          getComputedStyle(element).overflowX === 'hidden',
      )
      .map((element) => element.innerText)
      .filter((text) => text && !/w{9}/i.test(text)),
  );

/** Boxes of which a part is out of view at the side. */
const scrolledSideways = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('body *')]
      .filter(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 &&
          ['auto', 'scroll'].includes(getComputedStyle(element).overflowX),
      )
      .map((element) => `${element.className}: ${element.scrollWidth} of ${element.clientWidth} px`),
  );

/** What another part covers while it has the focus, which comes from below. */
const coveredFocus = (page: Page) =>
  page.evaluate(() =>
    [
      ...[...document.querySelectorAll('main, [role="dialog"]')]
        .at(-1)!
        .querySelectorAll<HTMLElement>('a[href], button'),
    ]
      .slice(0, 20)
      .toReversed()
      .filter((element) => {
        element.focus();
        const { x, y, width, height } = element.getBoundingClientRect();
        // no space has a name of 200 letters
        if (height > 100) return false;
        const top = document.elementFromPoint(x + width / 2, y + Math.min(height / 2, 10));
        return document.activeElement === element && width > 1 && top !== null && !related(top, element);
        function related(one: Element, other: Element) {
          return one.contains(other) || other.contains(one);
        }
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  );

/** Columns that one long value makes so wide that others are out of view, and lists that are too low to be read. */
const squeezedLists = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('table')].flatMap((table) => {
      const box = table.parentElement!;
      const columns = [...table.querySelectorAll<HTMLElement>('thead th')];
      const wide = columns.filter(
        ({ offsetWidth }) => table.offsetWidth > box.clientWidth && offsetWidth > 320,
      );
      const problems = wide.map(({ innerText, offsetWidth }) => `${innerText}: ${offsetWidth} px`);
      const low = box.clientHeight < Math.min(box.scrollHeight, 130) && `${box.clientHeight} px high`;
      return low ? [...problems, low] : problems;
    }),
  );

/** One record of each kind, whose texts are long words: names, roles and tags as long as the contract allows. */
async function makeRecordsOfLongWords(server: ConsoleServer): Promise<void> {
  const { admin } = server;
  const word = (length: number) => 'W'.repeat(length);
  const customer = await makeCustomer(admin, {
    name: word(200),
    email: `${word(64)}@${Array(4).fill('w'.repeat(60)).join('.')}.example`,
  });
  const params = { id: customer.customerId };
  await admin.ok(policies.putOfCustomer, { params, body: { ...noPolicy, tags: ['w'.repeat(40)] } });
  const license = await makeLicense(admin, { customerId: customer.customerId });
  const { headers } = await makeApiKey(admin, { name: word(200) });
  await validateOn(server.api(headers), license, 'reflow', { hostname: word(200), appVersion: word(100) });
  const roleId = 'w'.repeat(50);
  await admin.ok(rbac.createRole, { body: { roleId, description: word(500), copyFrom: 'viewer' } });
  const user = { email: `${word(64)}@hospital.example`, name: word(200), password, role: roleId };
  await admin.ok(users.create, { body: user });
  await makeRelease(
    server,
    { version: `1.0.0-${word(90)}` },
    { releaseNotes: word(2000), rolloutPercentage: 5 },
  );
  const paused = await makeRelease(server, { version: `2.0.0-${word(90)}` });
  await admin.ok(releases.pause, { params: { releaseId: paused.id }, body: { reason: word(500) } });
}

test('forced colors show the focus, what is chosen and what is disabled', async ({ page, server }) => {
  await makeLicense(server.admin);
  await signInAs(page, 'super_admin', '/licenses', server);
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/licenses');
  await quiet(page);
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  const outlineOf = (part: Locator) => part.evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(await outlineOf(skip)).not.toBe('none');

  const look = (part: Locator) =>
    part.evaluate((element) => {
      const { outline, backgroundColor, color } = getComputedStyle(element);
      return `${outline} ${backgroundColor} ${color}`;
    });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type a command or search' }).fill('go to');
  const pages = page.getByRole('option', { name: /^Go to/ });
  await page.keyboard.press('ArrowDown');
  await expect(pages.nth(1)).toHaveAttribute('data-selected', 'true');
  expect(await look(pages.nth(1)), 'what Enter opens').not.toBe(await look(pages.nth(2)));

  await page.goto('/users?dialog=create');
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.keyboard.press('ArrowDown');
  const active = page.locator('[role=option][data-combobox-selected]');
  const other = page.locator('[role=option]:not([data-combobox-selected])').first();
  expect(await look(active), 'what Enter chooses').not.toBe(await look(other));

  await page.goto('/api-keys?dialog=create');
  await page.getByRole('textbox', { name: 'Expiration Date' }).fill('15 Nov 2031');
  await button(page, 'Choose Expiration Date in a calendar').click();
  const filling = (name: string) =>
    page.getByRole('button', { name }).evaluate((day) => getComputedStyle(day).backgroundColor);
  expect(await filling('15 November 2031'), 'the day that is chosen').not.toBe(
    await filling('16 November 2031'),
  );

  await page.goto('/users?tab=roles&role=super_admin');
  expect(await look(button(page, 'Delete'))).not.toBe(await look(button(page, 'New Role')));

  await page.goto('/licenses');
  await quiet(page);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.keyboard.press('j');
  const row = page.locator('tr[data-row]').first();
  await expect(row).toBeFocused();
  expect(await outlineOf(row), 'the row that keys apply to').not.toBe('none');
});

test('the command palette shows what it found', async ({ page, server }) => {
  const email = `${'w'.repeat(60)}@hospital.example`;
  const { name } = await makeCustomer(server.admin, { email });
  await signInAs(page, 'super_admin', '/customers', server);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type a command or search' }).fill('go to');
  await expectInSight(page.getByRole('option', { name: 'Go to Today' }));
  await page.getByRole('combobox').fill(`c: ${name}`);
  await expect(page.getByRole('option').filter({ hasText: email })).toBeVisible();
  expect(await scrolledSideways(page)).toEqual([]);
});
