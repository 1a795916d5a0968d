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
  inDays,
  quiet,
  signInAs,
  test,
} from './support.ts';
import { holdBack } from './hold-back.ts';
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

test('the keys of a menu act before it has loaded, and it opens over nothing that came first', async ({
  page,
  server,
}) => {
  const file = '**/assets/RowMenu-*.js';
  const customer = await makeCustomer(server.admin);
  // ends first, so is the first row
  const soon = { validFrom: inDays(-30), validUntil: inDays(26) };
  const first = await makeLicense(server.admin, { ...of(customer), ...soon });
  const second = await makeLicense(server.admin, { ...of(customer), ...soon, validUntil: inDays(27) });
  const third = await makeLicense(server.admin, { ...of(customer), ...soon, validUntil: inDays(28) });
  const { keyboard } = page;
  const menu = page.getByRole('menu');
  const openLate = async () => {
    await page.reload();
    await expect(row(page, third)).toBeVisible();
    await keyboard.press('j');
    await expect(row(page, first)).toBeFocused();
    const load = await holdBack(page, file);
    await keyboard.press('m');
    return load;
  };
  await signInAs(page, 'super_admin', `${only(customer)}&expiring=30&sort=validUntil`, server);

  for (const [key, focused] of [
    ['Escape', row(page, first)],
    ['j', row(page, second)],
    ['/', page.getByRole('searchbox')],
  ] as const) {
    const load = await openLate();
    const loaded = page.waitForResponse(file);
    await keyboard.press(key);
    load();
    await (await loaded).finished();
    await quiet(page);
    await expect(focused).toBeFocused();
    await expect(menu).toBeHidden();
  }

  await keyboard.press('Escape');
  await openLate();
  // an arrow waits for an item, and moves no row
  await keyboard.press('ArrowDown');
  await keyboard.press('y');
  await expectSaid(page, new RegExp(`License ${first.licenseKey} for .+ extended to`));
  await expect(row(page, first)).toBeHidden();
});

test('a row that leaves the list leaves the keys at its place', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const endingIn = async (days: number) =>
    makeLicense(server.admin, { ...of(customer), validFrom: inDays(-30), validUntil: inDays(days) });
  const [, second, third, fourth] = await Promise.all([26, 27, 28, 29].map(endingIn));
  const { keyboard } = page;
  const extendFocused = async (license: typeof second) => {
    await expect(row(page, license!)).toBeFocused();
    for (const key of ['m', 'y']) await keyboard.press(key);
    await expectSaid(page, new RegExp(`License ${license!.licenseKey} for .+ extended to`));
    await expect(row(page, license!)).toBeHidden();
  };
  await signInAs(page, 'super_admin', `${only(customer)}&expiring=30&sort=validUntil`, server);
  await expect(row(page, fourth!)).toBeVisible();

  for (const key of ['j', 'j', 'j', 'j']) await keyboard.press(key);
  await extendFocused(fourth);
  // none follows
  await keyboard.press('j');
  await expect(row(page, third!)).toBeFocused();
  await keyboard.press('k');
  // a key that comes as the row goes, before the list has its focus
  await row(page, second!).evaluate((leaving) => {
    new MutationObserver((_, changes) => {
      if (leaving.isConnected) return;
      changes.disconnect();
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
    }).observe(document.body, { childList: true, subtree: true });
  });
  await extendFocused(second);
  await expect(row(page, third!)).toBeFocused();
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
