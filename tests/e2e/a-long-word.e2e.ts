import { noPolicy, policies } from '../../contract/policies.ts';
import { releases } from '../../contract/releases.ts';
import { rbac, users } from '../../contract/users.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn } from '../factories.ts';
import { password } from '../api-client.ts';
import { beyondTheEdge, scrolledSideways } from './beyond-the-edge.ts';
import { makeRelease } from './releases.ts';
import { addressOn, findShown, screens } from './screens.ts';
import {
  expect,
  expectStatus,
  quiet,
  seenOn,
  signInAs,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';

// The longest test has the first file by name, which begins first.

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
/**
 * What others show as well: with one record of each kind the empty list of a search which finds nothing, the same list in
 * another order, and the form in which that record is edited.
 */
const shownByOthers = new Set([
  'licenses-by-expiry',
  'licenses-revoked',
  'licenses-expired',
  'audit-failed',
  'machine-downloads',
  'license-create',
  'customer-create',
  'user-create',
]);

test('a long word does not widen a screen, push anything out of view or get lost', async ({
  page,
  freshServer: server,
}) => {
  test.setTimeout(1_800_000);
  await makeRecordsOfLongWords(server);
  const shown = await findShown(server.admin);
  let signedInAt = 0;
  const signIn = async () => {
    signedInAt = performance.now();
    await signInAs(page, 'super_admin', '/today', server);
  };
  await signIn();
  const browser = await page.context().newCDPSession(page);
  const enlarge = async () => {
    await browser.send('Page.setFontSizes', { fontSizes: { standard: 24 } });
    // Chromium computes lengths in rem again only where a style of the root changes
    await page.evaluate(() => {
      const root = document.documentElement;
      for (const size of ['100%', '']) {
        root.style.fontSize = size;
        void getComputedStyle(document.body).fontSize;
      }
    });
    await drawn(page);
  };
  for (const screen of screens) {
    if (screen.signedOut || screen.before || shownByOthers.has(screen.name)) continue;
    if (screen.failure) expectStatus(page, screen.failure);
    await page.goto(server.url + addressOn(screen, shown));
    await quiet(page);
    expect.soft(await beyondTheEdge(page), screen.name).toEqual([]);
    expect.soft(await cutTexts(page), screen.name).toEqual([]);
    expect.soft(await scrolledSideways(page), screen.name).toEqual([]);
    expect.soft(await coveredFocus(page), screen.name).toEqual([]);
    await page.setViewportSize(laptop);
    await drawn(page);
    expect.soft(await squeezedLists(page), screen.name).toEqual([]);
    expect.soft(await smallButtons(page), screen.name).toEqual([]);
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
    // the token ends after 15 minutes, and the browser prints the call that finds it out
    if (performance.now() - signedInAt > 600_000) await signIn();
    // the next screen is loaded with it; this one need not be laid out again
    await page.goto('about:blank');
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

/** Parts that lie on the next one below them, by more than a subtitle is moved up. */
const overlappingParts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('main *')]
      .filter((part) => {
        const { display, flexDirection } = getComputedStyle(part.parentElement!);
        const height = getComputedStyle(part).overflow === 'visible' ? part.scrollHeight : part.offsetHeight;
        let next = part.nextElementSibling;
        // what only a screen reader finds takes no place
        while (next?.matches('.visually-hidden')) next = next.nextElementSibling;
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

/** Buttons below the size of a target (WCAG 2.5.8): those of Mantine, and the icons in rows. */
const smallButtons = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        '.mantine-Button-root, .mantine-ActionIcon-root, .mantine-Chip-label, button:has(> svg:only-child)',
      ),
    ]
      .filter((target) => {
        const { width, height } = target.getBoundingClientRect();
        // in layout, sizes may be a fraction less
        return width > 1 && height > 0 && Math.min(width, height) < 23.9;
      })
      .map((target) => target.outerHTML.slice(0, 120)),
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
