import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { openedScreens } from './screens-opened.ts';
import { addressOn, findShown, screens, type Shown } from './screens.ts';
import { expectStatus, inBothThemes, quiet, settled, signInAs, test } from './support.ts';

const root = join(import.meta.dirname, '../..');
const windows = [
  { width: 390, height: 844 },
  { width: 1024, height: 720 },
  { width: 1440, height: 900 },
  { width: 2560, height: 1440 },
];

// Only on demand: `npm run screens` sets the folder.
const folder = process.env.SCREENS_FOLDER;
if (folder) {
  let shown: Shown;

  test.beforeAll(async ({ server }) => {
    test.setTimeout(600_000);
    const env = { ...process.env, ...server.settings };
    execFileSync(process.execPath, [join(root, 'dist/tools/demo.js')], { env });
    shown = await findShown(server.admin);
  });

  for (const screen of [...screens, ...openedScreens])
    test(screen.name, async ({ page, server }) => {
      // a slow machine takes seconds for each picture
      test.setTimeout(300_000);
      page.setDefaultTimeout(60_000);
      if (!screen.signedOut) await signInAs(page, 'super_admin', '/account', server);
      if (screen.failure) expectStatus(page, screen.failure);
      await screen.before?.(page);
      if (screen.width) await page.setViewportSize({ width: screen.width, height: 844 });
      await page.goto(addressOn(screen, shown));
      // a list that never comes keeps its skeleton
      await (screen.name.endsWith('-loading') ? page.getByRole('table').waitFor() : quiet(page));
      if (screen.open) {
        await screen.open(page);
        await quiet(page);
      }
      for (const size of windows) {
        if (screen.width && screen.width !== size.width) continue;
        await page.setViewportSize(size);
        await inBothThemes(page, async (theme) => {
          await settled(page);
          await page.screenshot({ path: join(folder, `${screen.name}-${size.width}-${theme}.png`) });
        });
      }
    });
}
