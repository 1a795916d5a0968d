import type { Locator, Page } from '@playwright/test';
import type { RoleName } from '../../contract/permissions.ts';
import type { Route } from '../../contract/route.ts';
import { session } from '../../contract/session.ts';
import { expect, expectStatus, type ConsoleServer } from './support.ts';

// What becomes of the calls of a page.

/** Matches the paths of a call, without their query. */
export const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

/**
 * The server carries out the next `times` of these calls (that of the record `id`), whose answers are lost. Returns the
 * number of answers lost so far.
 */
export async function loseAnswers(
  page: Page,
  { method, path }: Route,
  { id = '', times = 1 } = {},
): Promise<() => number> {
  expectStatus(page, 'aborted');
  const called = patternOf(path);
  let calls = 0;
  let lost = 0;
  await page.route(
    ({ pathname }) => called.test(pathname) && pathname.includes(id),
    async (route) => {
      // a page reads the same address when it likes
      if (route.request().method() !== method || ++calls > times) return route.fallback();
      await route.fetch();
      lost++;
      await route.abort('connectionreset');
    },
  );
  return () => lost;
}

/**
 * Ends the sessions of this role on the server, as an administrator or a timeout would, when the page next makes this
 * call, or makes it for the `nth` time: so that this call detects the end, and none that the open screen still makes on its
 * own. Those before have their answers by then.
 */
export async function endSessions(
  page: Page,
  role: RoleName,
  server: ConsoleServer,
  { method, path }: Route,
  nth = 1,
): Promise<void> {
  const { userId } = await server.person(role);
  const called = patternOf(path);
  const end = async (headers: Record<string, string>) => {
    await server.changeSessions((tx) =>
      tx.updateTable('sessions').set({ ended_at: new Date() }).where('user_id', '=', userId).execute(),
    );
    // The server caches sessions until it hears of the change.
    const status = async () => (await fetch(server.url + session.me.path, { headers })).status;
    await expect.poll(status).toBe(401);
  };
  const earlier: Promise<unknown>[] = [];
  let ended: Promise<void> | undefined;
  await page.route(
    (url) => called.test(url.pathname),
    async (route) => {
      const request = route.request();
      if (request.method() === method) {
        if (ended || earlier.length === nth - 1)
          await (ended ??= Promise.all(earlier).then(() => end(request.headers())));
        else
          earlier.push(
            request.response().then(
              (response) => response?.finished(),
              () => undefined,
            ),
          );
      }
      await route.continue();
    },
  );
}

/** Clicks a button twice, `atOnce` before the page can render, and returns how often its call has been made since. */
export async function clickTwice(
  target: Locator,
  { method, path }: Route,
  how?: 'atOnce',
): Promise<() => number> {
  const called = patternOf(path);
  let calls = 0;
  target.page().on('request', (request) => {
    if (request.method() === method && called.test(new URL(request.url()).pathname)) calls++;
  });
  if (how === 'atOnce')
    await target.evaluate((element: HTMLElement) => {
      element.click();
      element.click();
    });
  else await target.dblclick();
  return () => calls;
}
