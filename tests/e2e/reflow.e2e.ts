import { makeCustomer, makeLicense, validateOn } from '../factories.ts';
import { makeRelease } from './releases.ts';
import { findShown, screens } from './screens.ts';
import { expect, expectStatus, quiet, signInAs, test } from './support.ts';

// WCAG 1.4.10: 1280 pixels at 400 %.
test.use({ viewport: { width: 320, height: 256 } });

test('no screen scrolls sideways at 400 %', async ({ page, server }) => {
  test.setTimeout(300_000);
  const customer = await makeCustomer(server.admin, {
    name: 'Centre hospitalier universitaire de Saint-Étienne, site de Bellevue',
    email: 'informatique.biomedicale@chu-saint-etienne.example',
  });
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  await validateOn(server.admin, license, 'reflow', { hostname: 'WORKSTATION-OF-A-LONG-NAME-IN-LYON-08' });
  await makeRelease(server, {});
  const shown = await findShown(server.admin);
  await signInAs(page, 'super_admin', '/today', server);
  for (const screen of screens) {
    if (screen.signedOut || screen.before) continue;
    if (screen.failure) expectStatus(page, screen.failure);
    await page.goto(screen.path(shown));
    await quiet(page);
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const beyond = [...document.querySelectorAll('body *')].filter(
        (element) => element.getBoundingClientRect().right > clientWidth + 1,
      );
      return [`${scrollWidth} px`, ...beyond.slice(0, 5).map((element) => element.outerHTML.slice(0, 120))];
    });
    expect.soft(wide, screen.name).toEqual([]);
  }
});

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
