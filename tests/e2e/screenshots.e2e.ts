import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, settled, signInByForm, test } from './support.ts';

const root = join(import.meta.dirname, '../..');

test.use({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });

// The screenshots of the documentation are updated only on demand: `UPDATE_SCREENSHOTS=1`.
if (process.env.UPDATE_SCREENSHOTS === '1') {
  test('the screens of the demo company', async ({ page, freshServer: server }) => {
    const env = { ...process.env, ...server.settings };
    execFileSync(process.execPath, [join(root, 'dist/tools/demo.js')], { env });
    await page.goto(`${server.url}/licenses`);
    await signInByForm(page, server.printed.email, server.printed.password);
    await expect(page.getByRole('row').nth(10)).toBeVisible();
    await page.mouse.move(0, 0);
    await settled(page);
    await page.screenshot({ path: join(root, 'docs/images/licenses.png') });
  });
}
