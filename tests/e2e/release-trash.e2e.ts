import { releases, type Release } from '../../contract/releases.ts';
import { releaseRow } from '../rows.ts';
import { makeRelease } from './releases.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectSaid,
  expectStatus,
  inDays,
  rowOf,
  goTo,
  signInAs,
  test,
} from './support.ts';
import { bin, newWord, row, versions } from './releases-screen.ts';

test('deleting moves a release to the recycle bin, with a way back', async ({ page, server }) => {
  const releaseNotes = newWord();
  const release = await makeRelease(server, {}, { releaseNotes });
  await signInAs(page, 'binary_manager', `/releases?search=${releaseNotes}`, server);
  await row(page, release)
    .getByRole('button', { name: /^Delete/ })
    .click();
  const question = dialog(page, 'Delete Release');
  await expect(question).toContainText(
    `Version ${release.version} (stable) for Windows (x64) is moved to the recycle bin and permanently deleted after 30 days.`,
  );
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
  await expect(question.getByText('Reason is required')).toBeVisible();
  const reason = question.getByRole('textbox', { name: 'Reason' });
  await expect(reason).toBeFocused();
  // not cut while it is pasted, which nobody would see
  const tooLong = 'Wrong build. '.repeat(40).trim();
  await reason.fill(tooLong);
  await expect(reason).toHaveValue(tooLong);
  await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
  await expect(question.getByText('Must be at most 500 characters')).toBeVisible();
  await expect(reason).toBeFocused();
  await reason.fill('');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(row(page, release)).toBeVisible();
  await row(page, release)
    .getByRole('button', { name: /^Delete/ })
    .click();
  await question.getByRole('textbox', { name: 'Reason' }).fill('Wrong build');
  // as by a process of the previous version, during an upgrade
  await page.route(
    (url) => url.pathname.endsWith(release.id),
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { success: true, data: { id: release.id } } });
    },
    { times: 1 },
  );
  await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  // a toast stays while the mouse is over it
  await undo.hover();
  await expect(row(page, release)).toHaveCount(0);
  await undo.click();
  await expectSaid(page, 'Release restored successfully');
  await expect(row(page, release)).toBeVisible();

  // it does not restore what a colleague deleted
  await row(page, release)
    .getByRole('button', { name: /^Delete/ })
    .click();
  await question.getByRole('textbox', { name: 'Reason' }).fill('Wrong build');
  await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
  await undo.hover();
  await expect(row(page, release)).toHaveCount(0);
  const at = { params: { releaseId: release.id } };
  await server.admin.ok(releases.restore, { ...at, body: { reason: 'The right one' } });
  await server.admin.ok(releases.softDelete, { ...at, body: { reason: 'It crashes' } });
  expectStatus(page, 409);
  await undo.click();
  await expectSaid(page, 'This release was changed since you saw it. Look at it again.');
});

test('the recycle bin says what was deleted, by whom, why, and for how long it stays', async ({
  page,
  freshServer: server,
}) => {
  await signInAs(page, 'admin', '/releases/trash', server);
  await expect(page.getByRole('heading', { level: 1, name: 'Release Recycle Bin' })).toBeVisible();
  await expect(
    page.getByText('Deleted releases are kept for 30 days before permanent deletion.'),
  ).toBeVisible();
  await expect(page.getByRole('heading', { name: 'No deleted releases' })).toBeVisible();
  await expect(page.getByText('The recycle bin is empty.')).toBeVisible();
  await expectAccessible(page);

  const table = page.getByRole('region', { name: 'Deleted releases' });
  const deleted = new Map<number, Release>();
  for (const daysLeft of [30, 15, 14, 8, 7, 1]) {
    const release = await makeRelease(server);
    await bin(server, release, `Left ${daysLeft}`);
    // Half a day more than what is left, so that the test does not depend on the second.
    const deletedAt = new Date(Date.parse(inDays(daysLeft - 30)) - 43_200_000 * Number(daysLeft < 30));
    await server.db
      .updateTable('releases')
      .set({ deleted_at: deletedAt })
      .where('release_id', '=', release.id)
      .execute();
    deleted.set(daysLeft, release);
  }
  await page.reload();
  await expect(table.getByRole('columnheader')).toHaveText([
    'Version',
    'Platform/architecture',
    'Size',
    'Deleted',
    'Time Until Deletion',
    'Actions',
  ]);
  for (const [left, text, color] of [
    [30, '30 days', 'gray'],
    [15, '15 days', 'gray'],
    [14, '14 days', 'yellow'],
    [8, '8 days', 'yellow'],
    [7, '7 days', 'red'],
    [1, '1 day', 'red'],
  ] as const) {
    const binned = rowOf(table, `"Left ${left}"`);
    await expect(binned).toContainText(deleted.get(left)!.version);
    await expect(binned.locator('td').nth(4)).toHaveText(text);
    await expectColor(binned.getByText(text, { exact: true }), color);
  }
  const first = rowOf(table, '"Left 30"').locator('td');
  await expect(first.nth(1)).toHaveText('Windows (x64)');
  await expect(first.nth(2)).toHaveText('1.00 KB');
  await expect(first.nth(3)).toContainText(`by ${server.printed.email}`);
  await expectAccessible(page);
  // it has no page, and Enter leads not to the one of who deleted it
  await rowOf(table, '"Left 30"').press('Enter');
  await expect(page).toHaveURL(/\/releases\/trash$/);

  await rowOf(table, '"Left 7"').getByRole('button', { name: 'Restore' }).click();
  const restoring = dialog(page, 'Restore Release');
  await expect(restoring).toContainText(
    `Are you sure you want to restore version ${deleted.get(7)!.version}?`,
  );
  await restoring.getByRole('textbox', { name: 'Reason' }).fill('Deleted by mistake');
  await restoring.getByRole('button', { name: 'Restore' }).click();
  await expectSaid(page, 'Release restored successfully');
  await expect(rowOf(table, '"Left 7"')).toHaveCount(0);

  await rowOf(table, '"Left 8"').getByRole('button', { name: 'Delete' }).click();
  const deleting = dialog(page, 'Permanently Delete Release');
  await expect(deleting).toContainText(
    `This action cannot be undone! Are you sure you want to permanently delete version ${deleted.get(8)!.version}? This will remove the release and its binary file from all storage systems.`,
  );
  await expectAccessible(page);
  await deleting.getByRole('textbox', { name: 'Reason' }).fill('Contains a secret');
  await deleting.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
  await expectSaid(page, 'Release permanently deleted');
  await expect(rowOf(table, '"Left 8"')).toHaveCount(0);
  await page.getByRole('link', { name: 'Back to Releases' }).click();
  await expect(page).toHaveURL(/\/releases$/);
  await expect(versions(page)).toHaveText([`Version ${deleted.get(7)!.version}`]);
  await page.getByRole('link', { name: 'Recycle Bin' }).click();
  await expect(page).toHaveURL(/\/releases\/trash$/);
});

test('the page of a release that a colleague deletes says where it is, and keeps what was typed', async ({
  page,
  server,
}) => {
  expectStatus(page, 404);
  const release = await makeRelease(server);
  const gone = 'This release is in the recycle bin. Restore it there first.';
  await signInAs(page, 'super_admin', `/releases/${release.id}`, server);
  await page.getByRole('button', { name: 'Withdraw' }).click();
  const withdraw = dialog(page, 'Withdraw Release');
  const reason = withdraw.getByRole('textbox', { name: 'Reason' });
  await reason.fill('Crashes on start');
  await bin(server, release);
  await withdraw.getByRole('button', { name: 'Withdraw' }).click();
  await expect(withdraw.getByRole('alert')).toHaveText(gone);
  await expect(page.locator('main').getByText(gone)).toBeVisible();
  await expect(reason).toHaveValue('Crashes on start');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByRole('alert')).toHaveText(gone);
  await expectAccessible(page);
});

test('the list of the recycle bin', async ({ page, server }) => {
  await signInAs(page, 'binary_manager', '/today', server);

  await test.step('a recycle bin of which nothing is due does not say that it is empty', async () => {
    await bin(server, await makeRelease(server));
    await goTo(page, '/releases/trash?due=7');
    await expect(page.getByText('None is permanently deleted within 7 days.')).toBeVisible();
  });

  await test.step('the recycle bin has pages of 20; a search begins at the first', async () => {
    for (let n = 0; n < 23; n++) await bin(server, await makeRelease(server, { version: `53.${n}.0` }));
    await goTo(page, '/releases/trash?search=53.');
    const table = page.getByRole('region', { name: 'Deleted releases' });
    const rows = table.getByRole('button', { name: 'Restore' });
    await expect(page.getByText('Showing 1 to 20 of 23 results')).toBeVisible();
    await expect(page.getByText('Page 1 of 2')).toBeVisible();
    await expect(rows).toHaveCount(20);
    await expect(page.getByRole('button', { name: 'Previous page' })).toBeDisabled();
    await page.getByRole('button', { name: 'Next page' }).press('Enter');
    await expect(page.getByText('Showing 21 to 23 of 23 results')).toBeVisible();
    await expect(rows).toHaveCount(3);
    await expect(page.getByRole('button', { name: 'Next page' })).toBeDisabled();
    await expect(page.getByRole('button', { name: 'Next page' })).toBeFocused();
    await page.getByPlaceholder('Search by version...').fill('53.2');
    // 53.2.0 and 53.20.0 to 53.22.0
    await expect(page.getByText('Showing 1 to 4 of 4 results')).toBeVisible();
    await expect(page.getByText('Page 1 of 1')).toBeVisible();
    for (const name of ['Previous page', 'Next page'])
      await expect(page.getByRole('button', { name })).toBeDisabled();
    await page.getByPlaceholder('Search by version...').fill('nothing');
    await expect(page.getByRole('heading', { name: 'No deleted releases' })).toBeVisible();
  });

  await test.step('what fails in the recycle bin is said there', async () => {
    const binned = await makeRelease(server);
    await bin(server, binned);
    // An actor that is not a user is shown by its id.
    await server.db
      .updateTable('releases')
      .set({ deleted_by_email: null })
      .where('release_id', '=', binned.id)
      .execute();
    expectStatus(page, 500);
    const calls = '**/updates/admin/releases/**';
    await page.route(calls, (route) => route.fulfill({ status: 500, json: {} }));
    await goTo(page, `/releases/trash?search=${binned.version}`);
    await expect(page.getByRole('heading', { name: 'Failed to load deleted releases' })).toBeVisible();
    await page.unroute(calls);
    await page.getByRole('button', { name: 'Retry' }).click();
    const deleted = rowOf(page, binned.version);
    const { deleted_by } = await releaseRow(server, binned);
    await expect(deleted).toContainText(`by ${deleted_by}`);
    await page.route(calls, (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 500, json: {} }),
    );
    for (const [button, title, confirm, message] of [
      ['Restore', 'Restore Release', 'Restore', 'Failed to restore release'],
      [
        'Delete',
        'Permanently Delete Release',
        'Yes, Delete Permanently',
        'Failed to permanently delete release',
      ],
    ] as const) {
      await deleted.getByRole('button', { name: button }).click();
      await dialog(page, title).getByRole('textbox', { name: 'Reason' }).fill('Because');
      await dialog(page, title).getByRole('button', { name: confirm }).click();
      await expect(dialog(page, title)).toContainText(message);
      await dialog(page, title).getByRole('button', { name: 'Cancel' }).click();
      // The typed reason is not sent.
      await page.getByRole('button', { name: 'Discard' }).click();
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await page.getByRole('searchbox').fill('no such version');
    await expect(page.getByText('No version matches your search.')).toBeVisible();
    await page.getByRole('button', { name: 'Clear Search and Filters' }).click();
    await expect(deleted).toBeVisible();
  });
});
