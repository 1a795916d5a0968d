import {
  test as base,
  expect,
  type BrowserContext,
  type Locator,
  type Page,
  type Request,
} from '@playwright/test';
import type axe from 'axe-core';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { License } from '../../contract/licenses.ts';
import type { Permission, RoleName } from '../../contract/permissions.ts';
import { session, type SessionUser } from '../../contract/session.ts';
import { validation } from '../../contract/validation.ts';
import { makeHolder, validateOn, type MachineFacts } from '../factories.ts';
import { password } from '../api-client.ts';
import { startServer, type ConsoleServer } from './console-server.ts';
import { textsOfLowContrast } from './contrast.ts';

// --- what goes wrong in the browser ---------------------------------------------------------------------------

/** `aborted`: the test aborts a request to simulate a network failure. */
type Expected = number | 'aborted';
type Watch = {
  problems: string[];
  expected: Set<Expected>;
  seen: Set<Expected>;
  /** Requests of all pages that have no answer yet, and when that changed last. */
  pending: Set<Request>;
  changedAt: number;
};

const watches = new WeakMap<BrowserContext, Watch>();

/** Collects every error that pages of this context print or throw, except failed requests that a test expects. */
export async function watch(context: BrowserContext): Promise<void> {
  const watched: Watch = {
    problems: [],
    expected: new Set(),
    seen: new Set(),
    pending: new Set(),
    changedAt: 0,
  };
  const { problems, expected, seen, pending } = watched;
  watches.set(context, watched);
  keepIntercepting(context);
  const changed = () => {
    watched.changedAt = performance.now();
  };
  context.on('request', (request) => {
    pending.add(request);
    changed();
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    context.on(end as 'requestfinished', (request) => {
      pending.delete(request);
      changed();
    });
  context.on('weberror', (error) => problems.push(`thrown: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.type() !== 'error') return;
    const text = message.text();
    const status = /^Failed to load resource: the server responded with a status of (\d+)/.exec(text)?.[1];
    const failure = status
      ? Number(status)
      : text.startsWith('Failed to load resource: net::')
        ? 'aborted'
        : undefined;
    if (failure !== undefined) seen.add(failure);
    if (failure !== undefined && expected.has(failure)) return;
    problems.push(`${text} (${message.location().url})`);
  });
  await context.addInitScript(recordToasts);
}

/** In the page: records what its toasts say. */
function recordToasts(): void {
  const said: string[] = [];
  Object.assign(window, { said });
  const toasts = '[aria-label="Notifications"]';
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes)
      for (const node of addedNodes) {
        const isInside = target instanceof Element && target.closest(toasts);
        const text = isInside ? node.textContent : (node as Element).querySelector?.(toasts)?.textContent;
        if (text) said.push(text);
      }
  }).observe(document, { childList: true, subtree: true });
}

/**
 * Asserts that a toast has said this, and that once for each time that it did: a busy machine may look for it after its
 * three seconds.
 */
export async function expectSaid(page: Page, text: string | RegExp): Promise<void> {
  const others = () =>
    page.evaluate((wanted) => {
      const { said } = window as unknown as { said: string[] };
      const at = said.findIndex((one) =>
        typeof wanted === 'string' ? one.includes(wanted) : wanted.test(one),
      );
      return at < 0 ? said.join('; ') : void said.splice(at, 1);
    }, text);
  await expect.poll(others, `what toasts have said, without "${text}"`).toBeUndefined();
}

/**
 * From the first route of a page on, the context intercepts until its end, and a route counts once the page knows of it.
 * Chromium confirms both changes before the page does: a key pressed then is handled without the new route, and a call that
 * is made while the last route ends may never return (microsoft/playwright#41802).
 */
function keepIntercepting(context: BrowserContext): void {
  let begun: Promise<unknown> | undefined;
  context.on('page', (page) => {
    const route = page.route.bind(page);
    page.route = async (...args) => {
      // Playwright compares a string itself: no call is sent here for it
      await (begun ??= context.route('**/requested-by-nobody', (one) => one.fallback()));
      const added = await route(...args);
      // the page handles this after the news; one that is loaded anew meanwhile begins with it
      if (page.url() !== 'about:blank') await page.evaluate(() => undefined).catch(() => undefined);
      return added;
    };
  });
}

/** Fails on any undeclared problem, and on any declared one that does not occur. */
export async function expectNoProblems(context: BrowserContext): Promise<void> {
  const { problems, expected, seen } = watches.get(context)!;
  // The browser reports a failed request after the page has its response.
  await expect
    .poll(() => [...expected].filter((one) => !seen.has(one)), {
      message: 'failures that the test expects and that did not happen',
    })
    .toEqual([]);
  expect(problems, `errors in the browser: ${problems.join('; ')}`).toEqual([]);
}

/**
 * Waits until no page of the context has made a request for half a second, none is pending, and this page is idle: on a
 * busy machine it may take longer to show an answer, and to ask for what that needs. The `networkidle` of Playwright is
 * that of the first load: in a page that is open it returns at once. How long that takes proves nothing, so the limit is
 * far above that of what a page must show.
 */
export async function quiet(page: Page): Promise<void> {
  const watched = watches.get(page.context())!;
  const unrest = () => {
    const sinceChange = performance.now() - watched.changedAt;
    if (watched.pending.size > 0) return [...watched.pending].map((one) => `${one.method()} ${one.url()}`);
    return sinceChange > 500 ? [] : [`a request ${Math.round(sinceChange)} ms ago`];
  };
  const unrestWhenIdle = async () => {
    if (unrest().length === 0) await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle)));
    return unrest();
  };
  await expect.poll(unrestWhenIdle, { intervals: [50], timeout: 300_000 }).toEqual([]);
}

/** What the console logs of these failed calls, without the reason after the colon: any other may be late beside them. */
export function logged(page: Page, ofWhat: string): string[] {
  const sentences: string[] = [];
  page.on('console', (line) => {
    const text = line.text();
    if (line.type() === 'warning' && text.startsWith(ofWhat)) sentences.push(text.split(':')[0]!);
  });
  return sentences;
}

/** What the console does after exactly `ms` happens after `instead`: the test looks for what is there until then. */
export const prolong = (page: Page, ms: number, instead: number) =>
  page.addInitScript(
    ([usual, longer]) => {
      const start = window.setTimeout.bind(window);
      const late = (run: () => void, wait?: number) => start(run, wait === usual ? longer : wait);
      Object.assign(window, { setTimeout: late });
    },
    [ms, instead] as const,
  );

/** Declares that requests of this test end with these statuses. */
export function expectStatus(page: Page, ...statuses: Expected[]): void {
  for (const status of statuses) watches.get(page.context())!.expected.add(status);
}

/** Ends a step of a test: what it expects to fail has failed, and nothing does from here on. */
export async function expectNoMoreFailures(page: Page): Promise<void> {
  const context = page.context();
  await quiet(page);
  await expectNoProblems(context);
  const { expected, seen } = watches.get(context)!;
  for (const failures of [expected, seen]) failures.clear();
}

// --- fixtures -------------------------------------------------------------------------------------------------

type TestFixtures = {
  /** A new server for this test alone. */
  freshServer: ConsoleServer;
  /** A page of another browser context, for a second user. */
  otherPage: Page;
};

export const test = base.extend<TestFixtures, { server: ConsoleServer }>({
  server: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await startServer();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 600_000 },
  ],
  freshServer: [
    async ({ context }, use) => {
      const server = await startServer();
      await use(server);
      // a page that is open longer than its server requests it in vain
      const contexts = context.browser()?.contexts() ?? [];
      await Promise.all(contexts.flatMap((one) => one.pages()).map((page) => page.close()));
      await server.stop();
    },
    { timeout: 600_000 },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  contextOptions: { reducedMotion: 'reduce' },
  context: async ({ context }, use) => {
    await watch(context);
    await use(context);
    await expectNoProblems(context);
  },
  otherPage: async ({ browser, contextOptions, baseURL }, use) => {
    const context = await browser.newContext({
      ...contextOptions,
      baseURL: baseURL!,
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    await watch(context);
    await use(await context.newPage());
    await expectNoProblems(context);
    await context.close();
  },
});

export { expect, type ConsoleServer, type Page };

// --- signing in -----------------------------------------------------------------------------------------------

/** Signs a user of this role in without the form, with the security advice postponed, and opens `path`. */
export async function signInAs(page: Page, role: RoleName, path: string, server: ConsoleServer) {
  const { email } = await server.person(role);
  const isOpen = page.url() !== 'about:blank';
  if (isOpen) {
    // The storage of the origin is written from a page of it without the console. Before the cookies are cleared, so that
    // the screen that is still open makes no calls without them.
    await page.goto(`${server.url}/favicon.svg`);
  }
  await page.context().clearCookies();
  const answer = await page
    .context()
    .request.post(`${server.url}${session.login.path}`, { data: { email, password } });
  expect(answer.status()).toBe(200);
  const { data } = (await answer.json()) as { data: Record<string, unknown> & { user: SessionUser } };
  // the first document writes it itself, before its scripts run
  if (isOpen) await page.evaluate(keepSession, { data });
  else await page.addInitScript(keepSession, { data, onceAt: server.url });
  await page.goto(`${server.url}${path}`);
  return data.user;
}

type SignedIn = { data: Record<string, unknown> & { user: SessionUser }; onceAt?: string };

/** In the page: stores the session as the console does. `onceAt`: in the first document of this origin alone. */
function keepSession({ data, onceAt }: SignedIn): void {
  if (onceAt) {
    if (location.origin !== onceAt || sessionStorage.getItem('session kept')) return;
    sessionStorage.setItem('session kept', 'yes');
  }
  for (const [key, value] of Object.entries(data)) {
    localStorage.setItem(key, typeof value === 'string' ? value : JSON.stringify(value));
  }
  sessionStorage.setItem('adviceLater', data.user.userId);
}

/**
 * Opens another address in the console that is open, as its links do: loading the page takes twice as much CPU. The screen
 * before may still be shown when it returns.
 */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    // as the router writes it
    const { __TSR_index: index = 0 } = history.state as { __TSR_index?: number };
    const key = String(performance.now());
    history.pushState({ __TSR_index: index + 1, key, __TSR_key: key }, '', to);
  }, path);
  watches.get(page.context())!.changedAt = performance.now();
}

/**
 * Validates on a machine, and waits until lists and searches know it, which follows the answer: a screen that has asked
 * before does not ask again.
 */
export async function seenOn(
  { admin }: ConsoleServer,
  license: Pick<License, 'licenseId' | 'licenseKey'>,
  ...machine: [machineId: string, facts?: MachineFacts]
): Promise<void> {
  const params = { id: license.licenseId };
  const written = async () =>
    (await admin.ok(validation.ofLicense, { params })).reduce((sum, { count }) => sum + count, 0);
  const before = await written();
  await validateOn(admin, license, ...machine);
  await expect.poll(written).toBeGreaterThan(before);
}

/** Signs in with the form on the screen. */
export async function signInByForm(page: Page, email: string, plain = password): Promise<void> {
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(plain);
  await page.getByRole('button', { name: 'Sign In' }).click();
}

/** Ends the session in the page, as when another tab finds that it has ended. */
export const loseSession = (page: Page) =>
  page.evaluate(() => {
    localStorage.removeItem('accessToken');
    dispatchEvent(new StorageEvent('storage', { key: 'accessToken' }));
  });

/** The session that the console stores. */
export const sessionItems = (page: Page) =>
  page.evaluate(() =>
    ['user', 'accessToken', 'permissions', 'roles'].filter((key) => localStorage.getItem(key) !== null),
  );

/** Signs in a new user with exactly these permissions, and opens `path`. */
export async function signInHolding(
  page: Page,
  permissions: Permission[],
  path: string,
  server: ConsoleServer,
): Promise<void> {
  const { email } = await makeHolder(server.admin, permissions, server.printed.password);
  await page.goto(server.url + path);
  await signInByForm(page, email);
}

/** Simulates switching to another tab and back. */
export const comeBack = (page: Page) =>
  page.evaluate(() => {
    for (const value of ['hidden', 'visible']) {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }
  });

// --- looking --------------------------------------------------------------------------------------------------

/** Waits until all animations have ended, except endless ones (spinners, skeletons). */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const ending = () =>
      document.getAnimations().filter((one) => one.effect?.getTiming().iterations !== Infinity);
    for (let round = 0; round < 20 && ending().length > 0; round++) {
      await Promise.allSettled(ending().map((one) => one.finished));
      await new Promise(requestAnimationFrame);
    }
  });
}

/** Loaded once in a document: sending and compiling it took as long as the rules. */
const axeScript = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const standard = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What is in front: the page, or its topmost dialog and the toasts over it. What it covers was checked before. */
const inFront = (page: Page) =>
  page.evaluateHandle(() => {
    const top = [...document.querySelectorAll('[aria-modal="true"]')].at(-1);
    return top ? [top, document.querySelector('[aria-label="Notifications"]')!] : [document.documentElement];
  });

/** Asserts that axe finds no violation of WCAG 2.2 AA in front, and that no two landmarks have the same name. */
export async function expectNoAxeViolations(page: Page, options: { except?: string[] } = {}): Promise<void> {
  await settled(page);
  expect(page.frames(), 'axe looks at the page itself, and into no frame').toHaveLength(1);
  // axe takes a control that is half scrolled below a sticky bar for one that is too small
  const isLoaded = await page.evaluate(() => {
    for (const box of document.querySelectorAll('*')) if (box.scrollTop > 0) box.scrollTop = 0;
    return 'axe' in window;
  });
  if (!isLoaded) await page.evaluate(await axeScript);
  const run: axe.RunOptions = {
    runOnly: { type: 'tag', values: standard },
    rules: {
      'landmark-unique': { enabled: true },
      ...Object.fromEntries((options.except ?? []).map((rule) => [rule, { enabled: false }])),
    },
    // otherwise it also lists every passing element, which takes as long as the rules
    resultTypes: ['violations'],
  };
  const include = await inFront(page);
  const violations = await include.evaluate(
    async (parts, how) =>
      (await (window as unknown as { axe: typeof axe }).axe.run({ include: parts }, how)).violations,
    run,
  );
  const said = violations.map(({ id, nodes }) => {
    const where = nodes.slice(0, 3).map((node) => node.target.join(' '));
    return `${id}, ${nodes.length} times, such as ${where.join(' and ')}: ${nodes[0]?.failureSummary}`;
  });
  expect(said).toEqual([]);
}

/** Runs `look` in light and in dark colors. */
export async function inBothThemes(page: Page, look: (theme: 'light' | 'dark') => Promise<void>) {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme);
    await look(theme);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** The violations that axe finds, the contrast of texts in both color schemes, and fields that hide that they are invalid. */
export async function expectAccessible(page: Page): Promise<void> {
  await expect(page.locator('[data-invalid]:is(input, textarea):not([aria-invalid="true"])')).toHaveCount(0);
  await expectNoAxeViolations(page, { except: ['color-contrast'] });
  expect(await (await inFront(page)).evaluate(textsOfLowContrast), 'contrast of texts').toEqual([]);
}

/** The name of a text's color. */
export const expectColor = (text: Locator, ...names: string[]) =>
  expect.poll(async () => names.includes(await colorOf(text)), `is it ${names.join(' or ')}?`).toBe(true);

async function colorOf(text: Locator): Promise<string> {
  const rgb = await text.evaluate((element) => getComputedStyle(element).color);
  const [r = 0, g = 0, b = 0] = (rgb.match(/[\d.]+/g) ?? []).map(Number);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  if (most - least < 40) return 'gray';
  const sector =
    most === r
      ? (g - b) / (most - least)
      : most === g
        ? 2 + (b - r) / (most - least)
        : 4 + (r - g) / (most - least);
  const hue = (sector * 60 + 360) % 360;
  const names: [upTo: number, name: string][] = [
    [18, 'red'],
    [65, 'yellow'],
    [190, 'green'],
    [250, 'blue'],
    [330, 'violet'],
    [360, 'red'],
  ];
  return names.find(([upTo]) => hue <= upTo)![1];
}

/** The dialog with this title. */
export const dialog = (page: Page, title: string) => page.getByRole('dialog', { name: title, exact: true });

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

export const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name, exact: true });

/** The links to the screens. */
export const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' });

/** The title of the screen. */
export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** The row that contains this text. */
export const rowOf = (page: Page | Locator, text: string) => page.getByRole('row').filter({ hasText: text });

/**
 * Goes to a screen by `g` and its letter, as fast as a person: the letter counts within a second, and a busy page takes
 * longer to handle the key before it.
 */
export const goByKeys = (page: Page, letter: string): Promise<unknown> =>
  Promise.all([page.keyboard.press('g'), page.keyboard.press(letter)]);

/** Chooses an action in the menu of a row. */
export async function chooseInMenu(row: Locator, action: string): Promise<void> {
  await row.getByRole('button', { name: 'More actions' }).click();
  await row.page().getByRole('menuitem', { name: action }).click();
}

/** What an action shows for seconds only: a busy machine may look for it later than that. */
export async function expectBriefly(element: Locator, action: () => Promise<void>): Promise<void> {
  await Promise.all([element.waitFor({ state: 'attached' }), action()]);
}

/** Fully inside the window and covered by nothing, unlike an element that is clipped or under a sticky one. */
export async function expectInSight(element: Locator): Promise<void> {
  await expect(element).toBeVisible();
  const isWhole = () =>
    element.evaluate((one) => {
      const { left, right, top, height } = one.getBoundingClientRect();
      return [left + 2, right - 2].every((x) => one.contains(document.elementFromPoint(x, top + height / 2)));
    });
  await expect.poll(isWhole, 'is it in sight?').toBe(true);
}

/** These words of a line in the order in which they are shown, from left to right. */
export const placesOf = (line: Locator, words: string[]) =>
  line.evaluate((element, wanted) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const places: { word: string; left: number }[] = [];
    for (let node = texts.nextNode(); node; node = texts.nextNode())
      for (const word of wanted) {
        const at = node.textContent!.indexOf(word);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        places.push({ word, left: range.getBoundingClientRect().left });
      }
    return places.toSorted((a, b) => a.left - b.left).map(({ word }) => word);
  }, words);

export const day = 86_400_000;
export const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();

/** A day as the console writes it in British English, where Node's month is `Sept`. */
export const shortDay = (at: Date): string =>
  at
    .toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
    .replace('Sept', 'Sep');

/** Waits if the day (UTC), or the window of time in which calls are counted, is about to end: a test stays within one. */
export async function stayWithin(windowMs: number): Promise<void> {
  const left = windowMs - (Date.now() % windowMs);
  const { timeout } = test.info();
  if (left > timeout) return;
  test.setTimeout(timeout + left);
  await sleep(left + 100);
}
