import { makeLicense } from '../factories.ts';
import { searchBox } from './licenses-screen.ts';
import { dialog, expect, goTo, signInAs, test } from './support.ts';

const readers = [
  { locale: 'en-US', end: 'Jan 1, 2036', typed: '2/3/2036', read: 'Feb 3, 2036', seats: '1,234', week: 'Su' },
  { locale: 'de-DE', end: '01.01.2036', typed: '3.2.2036', read: '03.02.2036', seats: '1.234', week: 'Mo' },
] as const;

for (const { locale, end, typed, read, seats, week } of readers)
  test.describe(`a reader of ${locale}`, () => {
    test.use({ locale, permissions: ['clipboard-write'] });

    test('sees and types dates and numbers in the order and with the separators of home', async ({
      page,
      server,
    }) => {
      const license = await makeLicense(server.admin, { maxActivations: 1234 });
      await signInAs(page, 'super_admin', `/licenses/${license.licenseId}`, server);
      await expect(page.getByRole('region', { name: 'Validity' })).toContainText(end);
      await expect(page.getByRole('main')).toContainText(`0/${seats}`);

      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      const modal = dialog(page, 'Edit License');
      const field = modal.getByRole('textbox', { name: 'Valid Until' });
      await expect(field).toHaveValue(end);
      await expect(modal.getByRole('textbox', { name: 'Max Activations' })).toHaveValue(seats);
      // as the dialogs of Windows show a date
      await page.evaluate((text) => navigator.clipboard.writeText(text), `\u200e${typed}\u200b`);
      await field.press('ControlOrMeta+a');
      await field.press('ControlOrMeta+v');
      await field.blur();
      await expect(field).toHaveValue(read);

      await field.press('ArrowDown');
      const calendar = modal.getByRole('dialog', { name: 'Calendar of Valid Until' });
      await expect(calendar.locator('th').first()).toHaveText(week);
      await calendar.getByRole('button', { name: '4 February 2036', exact: true }).click();
      await modal.getByRole('button', { name: 'Update License' }).click();
      await expect(modal).toBeHidden();
      await expect(page.getByRole('region', { name: 'Validity' })).toContainText(read.replace('3', '4'));

      // the day as the list shows it
      const day = read.replace('3', '4');
      await goTo(page, `/licenses?customer=${license.customerId}`);
      const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
      await expect(rows.filter({ hasText: day }).first()).toBeVisible();
      await searchBox(page).pressSequentially(day);
      // in the address it is the same day to every reader
      await expect(page).toHaveURL((url) => url.searchParams.get('search') === '2036-02-04');
      await expect(searchBox(page)).toHaveValue(day);
      await expect(rows.filter({ hasText: license.licenseKey })).toBeVisible();
    });
  });
