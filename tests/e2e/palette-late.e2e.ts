import { holdBack } from './hold-back.ts';
import { button, dialog, expect, heading, quiet, signInAs, test } from './support.ts';

const file = '**/assets/CommandPalette-*.js';

test('the palette that loads late opens over no dialog, and not after Escape, and later with all its groups', async ({
  page,
  server,
}) => {
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  const ofScreen = palette.getByRole('group', { name: 'This screen' });
  const { keyboard } = page;
  /** Asks for it, does this, and lets it load. */
  const askLate = async (meanwhile: () => Promise<void>) => {
    await expect(heading(page, 'Customers')).toBeVisible();
    const load = await holdBack(page, file);
    const loaded = page.waitForResponse(file);
    await keyboard.press('Control+k');
    await meanwhile();
    load();
    await (await loaded).finished();
    await quiet(page);
    await expect(palette).toBeHidden();
  };
  await signInAs(page, 'super_admin', '/customers', server);
  await askLate(() => button(page, 'Create Customer').click());
  await expect(dialog(page, 'Add Customer').getByRole('textbox', { name: 'Company Name' })).toBeFocused();
  await keyboard.press('Escape');
  await expect(dialog(page, 'Add Customer')).toBeHidden();
  await keyboard.press('Control+k');
  await expect(ofScreen).toBeVisible();
  await page.reload();
  await askLate(async () => {
    await keyboard.press('Control+k');
    await keyboard.press('Escape');
  });
  await keyboard.press('Control+k');
  await expect(ofScreen).toBeVisible();
});
