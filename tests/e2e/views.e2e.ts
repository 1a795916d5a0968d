import { views as savedViews } from '../../contract/views.ts';
import { makeCustomer, makeLicense, unique, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { twoFrames } from './observe.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectStatus,
  goTo,
  quiet,
  rowOf,
  signInAs,
  test,
} from './support.ts';

test('filters are chips, and are saved as a view: own or shared, changed, opened from the palette, deleted with undo', async ({
  page,
  otherPage,
  server,
}) => {
  const family = unique('Viewed');
  const { customerId } = await makeCustomer(server.admin, { name: family });
  const full = await makeLicense(server.admin, { customerId, maxActivations: 1 });
  const empty = await makeLicense(server.admin, { customerId, maxActivations: 2 });
  await validateOn(server.admin, full, 'machine');
  const name = unique('<b>Full</b>');
  const url = `/licenses?search=${encodeURIComponent(family)}`;
  await signInAs(page, 'super_admin', url, server);
  const row = (license: { licenseKey: string }) => rowOf(page, license.licenseKey);
  const active = page.getByRole('group', { name: 'Active filters' });
  const views = page.getByRole('button', { name: 'Views' });
  const item = (text: string | RegExp) => page.getByRole('menuitem', { name: text });

  await test.step('a filter is a chip, which removes it', async () => {
    await expect(row(empty)).toBeVisible();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByRole('combobox', { name: 'Seats' }).click();
    await page.getByRole('option', { name: 'Full' }).click();
    await expect(row(empty)).toHaveCount(0);
    await expect(row(full)).toBeVisible();
    await page.keyboard.press('Escape');
    await active.getByRole('button', { name: 'Remove filter Seats: Full' }).click();
    await expect(row(empty)).toBeVisible();
    await page.goBack();
    await expect(active).toContainText('Seats: Full');
  });

  await test.step('saved and shared', async () => {
    const save = dialog(page, 'Save View');
    // also when it is loaded, and opens at once
    for (const _ of [1, 2]) {
      await views.press('Enter');
      await item('Save as new view…').press('Enter');
      await expect(save.getByRole('textbox', { name: 'Name' })).toBeFocused();
      await page.keyboard.press('Escape');
      await expect(views).toBeFocused();
    }
    await views.click();
    await item('Save as new view…').click();
    await save.getByRole('textbox', { name: 'Name' }).fill(name);
    await save.getByRole('checkbox', { name: /^Shared/ }).check();
    await expectAccessible(page);
    await save.getByRole('button', { name: 'Save View' }).click();
    await expect(active).toContainText(name);
    await expect(page).toHaveURL(/view=/);
    await expect(views).toBeFocused();
  });

  await test.step('a change of the filters is not saved until it is', async () => {
    await page.getByRole('tab', { name: /^Revoked/ }).click();
    await expect(active).toContainText('Unsaved changes');
    await expectAccessible(page);
    await active.getByRole('button', { name: 'Save Changes' }).click();
    await expect(active).not.toContainText('Unsaved changes');
  });

  await test.step('filters that a colleague saved meanwhile are not overwritten unasked', async () => {
    expectStatus(page, 409);
    const stored = (await server.admin.ok(savedViews.list)).find((view) => view.name === name)!;
    const params = { id: stored.id };
    await page.getByRole('tab', { name: /^Expired/ }).click();
    await server.admin.ok(savedViews.update, { params, body: { query: 'seats=empty' } });
    await active.getByRole('button', { name: 'Save Changes' }).click();
    const conflict = dialog(page, 'Someone else changed this meanwhile');
    const filters = rowOf(conflict, 'Filters').getByRole('cell');
    await expect(filters).toHaveText(['seats: empty', /seats: full, tab: expired/]);
    // Left and asked again, and once the view was loaded again: still not overwritten.
    await page.keyboard.press('Escape');
    await active.getByRole('button', { name: 'Save Changes' }).click();
    await expect(filters.first()).toHaveText('seats: empty');
    await conflict.getByRole('button', { name: 'Keep Theirs' }).click();
    await expect(conflict).toBeHidden();
    await expect(active).toContainText('Seats: Empty');
    await expect(active).not.toContainText('Unsaved changes');
    await server.admin.ok(savedViews.update, { params, body: { query: stored.query } });
    await views.click();
    await expect(active).toContainText('Changed by someone else');
    await page.keyboard.press('Escape');
    await expect(active.getByRole('button', { name: 'Save Changes' })).toHaveCount(0);
    await active.getByRole('button', { name: 'Show' }).click();
    await expect(active).toContainText('Seats: Full');
    await expect(active).not.toContainText('Changed by someone else');
    // who changed what is not known after a reload
    await server.admin.ok(savedViews.update, { params, body: { query: 'seats=empty' } });
    await page.reload();
    await expect(active).toContainText('Differs from the saved view');
    await server.admin.ok(savedViews.update, { params, body: { query: stored.query } });
    await page.reload();
    await expect(active).toContainText('Seats: Full');
    await expect(active).not.toContainText('Differs from the saved view');
  });

  await test.step('a colleague opens it from the palette, and may not change it', async () => {
    // what is changed before its script has come is a change too
    const loaded = await holdBack(otherPage, '**/OpenView-*.js');
    await signInAs(otherPage, 'viewer', '/customers', server);
    await expect(otherPage.getByRole('heading', { level: 1, name: 'Customers' })).toBeVisible();
    await otherPage.keyboard.press('Control+k');
    await otherPage.getByRole('combobox', { name: 'Type a command or search' }).fill(name);
    await otherPage.getByRole('dialog', { name: 'Command palette' }).getByText('View of licenses').click();
    await expect(otherPage).toHaveURL(/\/licenses\?.*seats=full/);
    const theirs = otherPage.getByRole('group', { name: 'Active filters' });
    await expect(theirs).toContainText('Seats: Full');
    await theirs.getByRole('button', { name: 'Remove filter Seats: Full' }).click();
    await expect(otherPage).not.toHaveURL(/seats=/);
    loaded();
    await expect(theirs).toContainText('Unsaved changes');
    await expect(theirs.getByRole('button', { name: 'Save Changes' })).toHaveCount(0);
  });

  await test.step('a filter that no longer exists is left out, which is said', async () => {
    await server.db
      .updateTable('saved_views')
      .set({ query: 'seats=full&region=EU&type=gold' })
      .where('name', '=', name)
      .execute();
    await page.reload();
    await expect(active).toContainText('Opened without region, type, which are no filters here any more');
  });

  await test.step('renamed by two people at once: the second sees the name of the first', async () => {
    expectStatus(page, 409);
    await views.click();
    await item('Rename or share…').click();
    const edit = dialog(page, 'Edit View');
    await edit.getByRole('textbox', { name: 'Name' }).fill(`${name} mine`);
    const stored = (await server.admin.ok(savedViews.list)).find((view) => view.name === name)!;
    await server.admin.ok(savedViews.update, { params: { id: stored.id }, body: { name: `${name} theirs` } });
    await edit.getByRole('button', { name: 'Save View' }).click();
    const conflict = dialog(page, 'Someone else changed this meanwhile');
    await expect(rowOf(conflict, 'Name').getByRole('cell')).toHaveText([`${name} theirs`, `${name} mine`]);
    await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
    await expect(edit).toBeHidden();
    await expect(active).toContainText(`${name} mine`);
  });

  await test.step('deleted, and restored', async () => {
    await views.click();
    await expectAccessible(page);
    await item('Delete view for everyone').click();
    await expect(page).not.toHaveURL(/view=/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(page).toHaveURL(/view=/);

    const body = { list: 'licenses', name: unique('Meanwhile'), query: '', shared: true } as const;
    const other = await server.admin.ok(savedViews.create, { body });
    const free = await holdBack(page, /\/api\/v1\/views\//, 'DELETE');
    await views.click();
    await item('Delete view for everyone').click();
    await views.click();
    await item(other.name).click();
    free();
    await expect(page.getByText(/^View .* deleted/).last()).toBeVisible();
    await expect(page, 'of another view that was opened meanwhile').toHaveURL(new RegExp(`view=${other.id}`));
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await expect(active).toContainText(name);
    await expect(page).toHaveURL(/view=/);
  });

  await test.step('a view that a colleague shares or deletes meanwhile is seen when the menu opens', async () => {
    const theirs = unique('Theirs');
    const body = { list: 'licenses', name: theirs, query: '', shared: true } as const;
    const { id } = await server.admin.ok(savedViews.create, { body });
    await views.click();
    await expect(item(theirs)).toBeVisible();
    await page.keyboard.press('Escape');
    await server.admin.ok(savedViews.delete, { params: { id } });
    await views.click();
    await expect(item(theirs)).toHaveCount(0);
    await page.keyboard.press('Escape');
  });

  await test.step('a link to a view that is not there says so', async () => {
    await goTo(page, '/licenses?view=019ac000-0000-7000-8000-000000000000&seats=full');
    await active.getByRole('button', { name: 'Leave view', exact: true }).click();
    await expect(active).toHaveText(/^Seats: Full/);
  });
});

test('that a view is not there is said also while the views are asked for again', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/licenses?view=019ac000-0000-7000-8000-000000000000', server);
  const leave = page.getByRole('button', { name: 'Leave view', exact: true });
  await expect(leave).toBeVisible();
  await quiet(page);
  const answer = await holdBack(page, `**${savedViews.list.path}?*`);
  const asked = page.waitForRequest(`**${savedViews.list.path}?*`);
  await page.getByRole('button', { name: 'Views' }).click();
  await asked;
  await twoFrames(page);
  await expect(leave).toBeVisible();
  answer();
});
