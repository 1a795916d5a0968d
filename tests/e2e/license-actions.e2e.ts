import {
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  softDelete,
  unique,
  validateOn,
} from '../factories.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  signInAs,
  test,
} from './support.ts';
import { list, of, only, row, tab } from './licenses-screen.ts';

test('revoke and reactivate ask, naming the key', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, of(customer));
  const { headers } = await makeApiKey(server.admin);
  await validateOn(server.api(headers), license, 'revoked-with-its-license');
  await signInAs(page, 'super_admin', only(customer), server);

  await row(page, license).getByRole('button', { name: 'Revoke' }).click();
  const revoking = dialog(page, 'Revoke License');
  await expect(revoking).toContainText(`Are you sure you want to revoke license ${license.licenseKey}?`);
  await expect(revoking).toContainText('1 machine is refused from its next check.');
  await expectAccessible(page);
  await revoking.getByRole('button', { name: 'Cancel' }).click();
  await expect(row(page, license)).toBeVisible();
  await row(page, license).getByRole('button', { name: 'Revoke' }).click();
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText(new RegExp(`^License ${license.licenseKey} for .+ revoked$`))).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active0', 'Revoked1', 'Expired0']);

  await tab(page, 'Revoked').click();
  await expect(row(page, license).getByRole('button', { name: /Edit|Revoke/ })).toHaveCount(0);
  await row(page, license).getByRole('button', { name: 'Reactivate' }).click();
  const reactivating = dialog(page, 'Reactivate License');
  await expect(reactivating).toContainText(
    `Are you sure you want to reactivate license ${license.licenseKey}?`,
  );
  await reactivating.getByRole('button', { name: 'Reactivate' }).click();
  await expectSaid(page, new RegExp(`License ${license.licenseKey} for .+ reactivated`));
  await expect(page.getByRole('tab')).toHaveText(['Active1', 'Revoked0', 'Expired0']);
});

test('a license of a soft-deleted customer keeps only Activations', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Owner gone') });
  const active = await makeLicense(server.admin, of(customer));
  const revoked = await makeLicense(server.admin, of(customer));
  await revoke(server.admin, revoked);
  await softDelete(server.admin, customer);
  await signInAs(page, 'super_admin', only(customer), server);

  for (const license of [active, revoked]) {
    await tab(page, license === active ? 'Active' : 'Revoked').click();
    await expect(row(page, license)).toContainText('Customer is soft-deleted');
    await expect(
      row(page, license).getByRole('button', { name: /^(Edit|View|Revoke|Reactivate)/ }),
    ).toHaveCount(0);
    await expect(row(page, license).getByRole('button', { name: 'Activations' })).toBeEnabled();
  }
  await expect(list(page).getByRole('button', { name: `${customer.name} (Deleted)` })).toBeVisible();
  await expectAccessible(page);
  await row(page, revoked).getByRole('button', { name: 'Activations' }).click();
  await expect(dialog(page, 'License Activations')).toBeVisible();
  await page.keyboard.press('Escape');

  // Also by a link to its dialog.
  await goTo(page, `/licenses?edit=${active.licenseId}`);
  await expect(dialog(page, 'View License').getByRole('note')).toHaveText('Customer is soft-deleted');
  await expect(dialog(page, 'View License')).toContainText(`${customer.name} (Deleted)`);

  await goTo(page, `${only(customer)}&tab=expired`);
  await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue(new RegExp(customer.name));

  await goTo(page, only(customer));
  const json = { success: true, data: { canDelete: false, message: '' } };
  await page.route('**/check-deletable', (route) => route.fulfill({ json }), { times: 1 });
  await list(page).getByRole('button', { name: 'Permanently Delete' }).click();
  await expect(dialog(page, 'Cannot Delete Customer')).toContainText(
    'This customer cannot be deleted at this time.',
  );
  await page.keyboard.press('Escape');
  await list(page).getByRole('button', { name: 'Permanently Delete' }).click();
  const question = dialog(page, 'Permanently Delete Customer');
  // The URL still names a customer that has been deleted since.
  expectStatus(page, 404);
  const askedAgain = page.waitForResponse((answer) => answer.status() === 404);
  await question.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
  await expectSaid(page, `Customer "${customer.name}" permanently deleted`);
  await expect(page.getByRole('tab')).toHaveText(['Active0', 'Revoked0', 'Expired0']);
  await askedAgain;
});

test.describe('by touch', () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 844 } });

  test('a tap says what is left out, and why not', async ({ page, server }) => {
    const license = await makeLicense(server.admin);
    await validateOn(server.admin, license, 'machine-a');
    const hint = page.getByRole('tooltip');
    await signInAs(page, 'viewer', `/licenses?search=${license.licenseKey}`, server);
    // smaller, a phone would zoom into it
    await expect(page.getByPlaceholder(/^Search/)).toHaveCSS('font-size', '16px');
    await row(page, license).getByRole('button', { name: '1 more: ' }).tap();
    await expect(hint).toHaveText('Diabetes');
    await row(page, license).getByRole('button', { name: 'Activations' }).tap();
    await dialog(page, 'License Activations')
      .getByRole('button', { name: 'Deactivate' })
      .tap({ force: true });
    await expect(hint).toHaveText('You may not update licenses');

    await signInAs(page, 'super_admin', '/users?tab=roles&role=super_admin', server);
    const cell = page.getByRole('checkbox', { name: /^Users: read/ });
    const reason = (await cell.getAttribute('aria-label'))!.split('. ')[1]!;
    await cell.tap({ force: true });
    await expect(hint).toHaveText(reason);
    await cell.press('Escape');
    await expect(hint).toBeHidden();
    await page.keyboard.press('Tab');
    await expect(hint).toHaveText(reason);
  });
});
