import { noPolicy, policies } from '../../contract/policies.ts';
import { rbac, users } from '../../contract/users.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn } from '../factories.ts';
import { password } from '../harness.ts';
import { makeRelease } from './releases.ts';
import { findShown, screens } from './screens.ts';
import { expect, expectStatus, quiet, signInAs, test, type ConsoleServer } from './support.ts';

// WCAG 1.4.10: 1280 pixels at 400 %.
test.use({ viewport: { width: 320, height: 256 } });

test('no screen scrolls sideways at 400 %, however long a word is', async ({ page, freshServer: server }) => {
  test.setTimeout(300_000);
  await makeRecordsOfLongWords(server);
  const shown = await findShown(server.admin);
  await signInAs(page, 'super_admin', '/today', server);
  for (const screen of screens) {
    if (screen.signedOut || screen.before) continue;
    if (screen.failure) expectStatus(page, screen.failure);
    await page.goto(server.url + screen.path(shown));
    await quiet(page);
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const beyond = [...document.querySelectorAll('body *')].filter(
        (element) => element.getBoundingClientRect().left + element.scrollWidth > clientWidth + 1,
      );
      return [`${scrollWidth} px`, ...beyond.slice(-5).map((element) => element.outerHTML.slice(0, 120))];
    });
    expect.soft(wide, screen.name).toEqual([]);
  }
});

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
  await validateOn(admin, license, 'reflow', { hostname: word(200), appVersion: word(100) });
  const roleId = 'w'.repeat(50);
  await admin.ok(rbac.createRole, { body: { roleId, description: word(500), copyFrom: 'viewer' } });
  const user = { email: `${word(64)}@hospital.example`, name: word(200), password, role: roleId };
  await admin.ok(users.create, { body: user });
  await makeApiKey(admin, { name: word(200) });
  await makeRelease(
    server,
    { version: `1.0.0-${word(90)}` },
    { releaseNotes: word(2000), rolloutPercentage: 5 },
  );
}

test('forced colors keep the focus visible', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/licenses', server);
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/licenses');
  await quiet(page);
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  expect(await skip.evaluate((link) => getComputedStyle(link).outlineStyle)).not.toBe('none');
});
