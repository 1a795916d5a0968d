import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findShown, screens, type Shown } from './screens.ts';
import { expect, expectStatus, inBothThemes, settled, signInByForm, test } from './support.ts';

const root = join(import.meta.dirname, '../..');
const windows = [
  { width: 390, height: 844 },
  { width: 1024, height: 768 },
  { width: 1440, height: 900 },
  { width: 2560, height: 1440 },
];

// Only on demand: `npm run screens` sets the folder.
const folder = process.env.SCREENS_FOLDER;
if (folder) {
  let shown: Shown;

  test.beforeAll(async ({ server }) => {
    test.setTimeout(300_000);
    const env = { ...process.env, ...server.settings };
    execFileSync(process.execPath, [join(root, 'dist/tools/demo.js')], { env });
    shown = await findShown(server.admin);
  });

  for (const screen of screens)
    test(screen.name, async ({ page, server }) => {
      if (!screen.signedOut) {
        await page.goto('/account');
        await signInByForm(page, server.printed.email, server.printed.password);
        await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
        // the advice for a first administrator is not part of a screen
        await page.getByRole('button', { name: 'Later' }).click();
      }
      if (screen.name.endsWith('-error')) expectStatus(page, 400);
      await screen.before?.(page);
      await page.goto(screen.path(shown));
      // a list that never comes keeps its skeleton
      if (!screen.name.endsWith('-loading')) await page.waitForLoadState('networkidle');
      for (const size of windows) {
        await page.setViewportSize(size);
        await inBothThemes(page, async (theme) => {
          await settled(page);
          await page.screenshot({ path: join(folder, `${screen.name}-${size.width}-${theme}.png`) });
        });
      }
    });
}
