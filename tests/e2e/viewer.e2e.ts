import { makeCustomer, makeLicense, revoke, softDelete, unique, validateOn } from '../factories.ts';
import { row } from './licenses-screen.ts';
import { makeRelease } from './releases.ts';
import { bin, list as releaseList, newWord, row as releaseRow } from './releases-screen.ts';
import {
  button,
  dialog,
  expect,
  expectAccessible,
  goTo,
  inDays,
  quiet,
  rowOf,
  seenOn,
  signInAs,
  test,
} from './support.ts';

test('who may only look gets no way to change anything, and is told why', async ({ page, server }) => {
  await signInAs(page, 'viewer', '/today', server);

  await test.step('customers', async () => {
    const { name, customerId } = await makeCustomer(server.admin, { name: unique('Locked') });
    await goTo(page, `/customers?search=${encodeURIComponent(name)}`);
    await expect(page.getByRole('columnheader')).toHaveText([
      'Name',
      'Email',
      'Country',
      'Status',
      'Actions',
    ]);
    await rowOf(page, name).getByRole('button').press('Enter');
    await expect(page.getByRole('menuitem')).toHaveText(['Peek']);
    await expect(page.getByRole('link', { name: /^Soft Deleted/ })).toBeVisible();
    await goTo(page, `/customers?edit=${customerId}`);
    await expect(page.getByRole('columnheader', { name: 'Name' })).toBeVisible();
    await quiet(page);
    await expect(page.getByRole('dialog')).toHaveCount(0);

    await softDelete(server.admin, { customerId });
    await goTo(page, `/customers/trash?search=${encodeURIComponent(name)}`);
    for (const [action, reason] of [
      ['Reactivate', 'You may not update customers'],
      ['Permanently Delete', 'You may not delete customers'],
    ] as const) {
      const disabled = rowOf(page, name).getByRole('button', { name: action });
      await expect(disabled).toHaveAttribute('aria-disabled', 'true');
      await disabled.focus();
      await expect(page.getByRole('tooltip', { name: reason })).toBeVisible();
      await disabled.press('Enter');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await expectAccessible(page);
  });

  await test.step('licenses', async () => {
    const license = await makeLicense(server.admin);
    await validateOn(server.admin, license, 'machine-a');
    const revoked = await makeLicense(server.admin);
    await revoke(server.admin, revoked);
    await goTo(page, `/licenses?search=${revoked.licenseKey}&tab=revoked`);
    await expect(row(page, revoked).getByRole('button', { name: /^(View|Activations)$/ })).toHaveCount(2);
    await expect(page.getByRole('button', { name: 'Reactivate' })).toHaveCount(0);

    await goTo(page, `/licenses?search=${license.licenseKey}`);
    await expect(row(page, license).getByRole('button', { name: /^(View|Activations)$/ })).toHaveCount(2);
    await expect(page.getByRole('button', { name: /^(Create License|Edit|Revoke)$/ })).toHaveCount(0);
    await expect(page.getByRole('checkbox', { name: /^Select/ })).toHaveCount(0);

    await row(page, license).getByRole('button', { name: 'Activations' }).click();
    const modal = dialog(page, 'License Activations');
    const disabled = modal.getByRole('button', { name: 'Deactivate' });
    await expect(disabled).toHaveAttribute('aria-disabled', 'true');
    await disabled.hover();
    await expect(page.getByRole('tooltip', { name: 'You may not update licenses' })).toBeVisible();
    await disabled.press('Enter');
    for (const name of ['Offline Activation', 'Return Receipt']) {
      await expect(button(page, name)).toHaveAttribute('aria-disabled', 'true');
      await button(page, name).press('Enter');
    }
    await expect(page.getByRole('dialog')).toHaveCount(1);
    await expectAccessible(page);
    await page.keyboard.press('Escape');

    await row(page, license).getByRole('button', { name: 'View' }).click();
    await expect(dialog(page, 'View License').getByRole('textbox')).toHaveCount(0);
    await goTo(page, '/licenses/new');
    await expect(page.getByRole('heading', { name: 'You may not see this screen' })).toBeVisible();
    await expectAccessible(page);
    await goTo(page, '/licenses?dialog=create');
    await expect(page.getByRole('tab', { name: 'Active' })).toBeVisible();
    await quiet(page);
    await expect(page.getByRole('dialog')).toHaveCount(0);

    await goTo(page, `/licenses?edit=${license.licenseId}`);
    await expect(dialog(page, 'View License')).toBeVisible();
    await expect(page.getByRole('link', { name: /Audit Log|All changes/ })).toHaveCount(0);
    await page.keyboard.press('Escape');
  });

  await test.step('releases', async () => {
    const releaseNotes = newWord();
    const release = await makeRelease(server, {}, { releaseNotes });
    const binned = await makeRelease(server);
    await bin(server, binned);
    await goTo(page, `/releases?search=${releaseNotes}`);
    await expect(releaseRow(page, release)).toBeVisible();
    await expect(page.getByRole('link', { name: 'Recycle Bin' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'New Release' })).toHaveCount(0);
    await expect(
      releaseRow(page, release).getByRole('button', { name: /^(Edit|Delete|Withdraw)/ }),
    ).toHaveCount(0);
    await goTo(page, `/releases?edit=${release.id}&dialog=create`);
    await expect(releaseList(page)).toBeVisible();
    await quiet(page);
    await expect(page.getByRole('dialog')).toHaveCount(0);

    await goTo(page, `/releases/trash?search=${binned.version}`);
    for (const name of ['Restore', 'Delete']) {
      const refused = rowOf(page, binned.version).getByRole('button', { name });
      await expect(refused).toHaveAttribute('aria-disabled', 'true');
      await expect(refused).toHaveAttribute('title', 'You may not delete releases');
      await refused.click({ force: true });
    }
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('analytics', async () => {
    await seenOn(server, await makeLicense(server.admin, { validUntil: inDays(20) }), 'm');
    await goTo(page, '/analytics');
    await expect(
      page
        .getByRole('region', { name: 'Licenses Expiring by Week', exact: true })
        .getByText('Table', { exact: true }),
    ).toBeVisible();
    await expect(page.getByRole('button', { name: /as (CSV|PNG)$/ })).toHaveCount(0);
  });
});
