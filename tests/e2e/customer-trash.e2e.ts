import { customers } from '../../contract/customers.ts';
import { makeCustomer, makeLicense, softDelete, unique, validateOn } from '../factories.ts';
import { endSessions, loseAnswers } from './calls.ts';
import { names, search } from './customers-screen.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectSaid,
  expectStatus,
  inBothThemes,
  rowOf,
  signInAs,
  signInByForm,
  test,
} from './support.ts';

test('deleting asks, says so, and can be undone', async ({ page, server }) => {
  const { name, customerId } = await makeCustomer(server.admin, { name: unique('Deleting "Quoted"') });
  await validateOn(server.admin, await makeLicense(server.admin, { customerId }), 'a machine in use');
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(name)}`, server);
  await rowOf(page, name).getByRole('button', { name: 'Delete' }).click();
  const question = dialog(page, 'Delete Customer');
  await expect(
    question.getByText(`Are you sure you want to delete customer "${name}"?`, { exact: true }),
  ).toBeVisible();
  await expect(question.getByRole('button')).toHaveText(['', 'Cancel', 'Confirm']);
  await expect(question.getByRole('heading', { name: 'Delete Customer' })).toBeVisible();
  await expectColor(question.getByRole('heading'), 'gray');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(question).toBeHidden();
  await expect(names(page)).toHaveText([name]);

  // The numbers, while loading and when they cannot be loaded: the confirmation is not blocked.
  expectStatus(page, 500);
  const impact = `**${customers.impact.path}?*`;
  await page.route(impact, (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 });
  const answer = await holdBack(page, impact);
  await rowOf(page, name).getByRole('button', { name: 'Delete' }).click();
  const consequences = question.getByRole('group', { name: 'Consequences' });
  await expect(consequences).toHaveText('Counting who is affected…');
  answer();
  await expect(consequences).toContainText('Who is affected could not be counted.');
  await expect(question.getByRole('button', { name: 'Confirm' })).toBeEnabled();
  await consequences.getByRole('button', { name: 'Try again' }).click();
  await expect(consequences.getByRole('listitem')).toHaveText([
    '1 license belongs to this customer.',
    '1 machine is refused from its next check.',
    'The customer can be restored under Soft Deleted.',
  ]);
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(page.getByText('No customers found. Try adjusting your search.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(names(page)).toHaveText([name]);

  // Several customers.
  const word = unique('Bulk');
  for (const n of [1, 2, 3]) await makeCustomer(server.admin, { name: `${word} ${n}` });
  await search(page).fill(word);
  await expect(names(page)).toHaveCount(3);
  // What was selected under another search is not, so that nothing is deleted unseen.
  await page.getByRole('checkbox', { name: `Select ${word} 2` }).check();
  await search(page).fill(`${word} 1`);
  await expect(names(page)).toHaveText([`${word} 1`]);
  await page.getByRole('checkbox', { name: `Select ${word} 1` }).check();
  await expect(page.getByText('1 selected')).toBeVisible();
  await search(page).fill(word);
  await expect(names(page)).toHaveCount(3);
  await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(0);
  await page.getByRole('checkbox', { name: `Select ${word} 1` }).check();
  await page.getByRole('checkbox', { name: `Select ${word} 3` }).check();
  await expect(page.getByText('2 selected')).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Delete Selected').click();
  await expect(page.getByText('Are you sure you want to delete 2 customers?')).toBeVisible();
  await expect(page.getByRole('group', { name: 'Consequences' }).getByRole('listitem')).toHaveText([
    'No licenses belong to these customers.',
    'Each customer can be restored under Soft Deleted.',
  ]);
  await button(page, 'Confirm').click();
  await expect(names(page)).toHaveText([`${word} 2`]);
});

test('a session that ends while customers are deleted says which are, and undoes them', async ({
  page,
  server,
}) => {
  const word = unique('Lapsed');
  for (const n of [1, 2, 3, 4, 5, 6]) await makeCustomer(server.admin, { name: `${word} ${n}` });
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(word)}`, server);
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await button(page, 'Delete Selected').click();
  expectStatus(page, 401);
  await endSessions(page, 'super_admin', server, customers.softDelete, 5);
  await button(page, 'Confirm').click();
  await expect(page).toHaveURL(/login/);
  await page.unrouteAll();
  await signInByForm(page, (await server.person('super_admin')).email);
  const outcome = dialog(page, 'Delete Customers');
  await expect(outcome.getByRole('alert')).toHaveText(
    '4 customers deleted. 2 customers could not be deleted, or there was no response:',
  );
  await expect(outcome.getByRole('listitem')).toHaveCount(2);
  await outcome.getByRole('button', { name: 'Close' }).last().click();
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.hover();
  await expect(names(page)).toHaveCount(2);
  await undo.click();
  await expect(names(page)).toHaveCount(6);
});

test('the trash: texts, Reactivate, both ends of Permanently Delete', async ({ page, server }) => {
  const kept = await makeCustomer(server.admin, {
    name: unique('Trash kept'),
    phone: '+47 22',
    country: 'NO',
    email: 'a@b.example',
  });
  const gone = await makeCustomer(server.admin, {
    name: unique('Trash gone of the University Hospital'),
    country: 'GB',
    email: 'harry.hughes@queenelizabethhospital.example',
  });
  const license = await makeLicense(server.admin, { customerId: gone.customerId });
  await validateOn(server.admin, license, 'a machine');
  for (const customer of [kept, gone]) await softDelete(server.admin, customer);

  await signInAs(page, 'super_admin', '/customers', server);
  const link = page.getByRole('link', { name: /^Soft Deleted \(\d+\)$/ });
  const { meta } = (await server.admin.call(customers.trash, { query: { limit: '1' } })).body;
  await expect(link).toHaveText(`Soft Deleted (${meta.total})`);
  await link.click();
  await expect(page).toHaveURL('/customers/trash');
  await expect(page.getByRole('heading', { level: 1, name: 'Soft Deleted' })).toBeVisible();
  await expect(rowOf(page, gone.name)).toBeVisible();
  // a long name and address are cut before anything is out of view
  const list = page.getByRole('region', { name: 'Soft-deleted customers' });
  expect(await list.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  await expect(rowOf(page, kept.name).locator('td')).toHaveText([
    kept.name,
    'a@b.example',
    'Norway',
    '+47 22',
    'Deleted',
    /^(just now|\d minutes? ago)$/,
    'ReactivatePermanently Delete',
  ]);
  await expect(rowOf(page, gone.name).locator('td').nth(3), 'no phone').toHaveText('');
  await expectAccessible(page);

  await test.step('reactivate', async () => {
    await rowOf(page, kept.name).getByRole('button', { name: 'Reactivate' }).click();
    const question = dialog(page, 'Reactivate Customer');
    await expect(question).toContainText('The customer will be visible in the customer list again.');
    await expect(question.getByRole('listitem')).toHaveText(['No licenses belong to this customer.']);
    await question.getByRole('button', { name: 'Reactivate' }).click();
    await expectSaid(page, `Customer "${kept.name}" reactivated`);
    await expect(rowOf(page, kept.name)).toHaveCount(0);
  });

  const start = () => rowOf(page, gone.name).getByRole('button', { name: 'Permanently Delete' }).click();

  await test.step('the server says no', async () => {
    for (const [message, shown] of [
      ['Its last invoice is open.', 'Its last invoice is open.'],
      ['', 'This customer cannot be permanently deleted at this time.'],
    ]) {
      const json = { success: true, data: { canDelete: false, message } };
      await page.route('**/check-deletable', (route) => route.fulfill({ json }), { times: 1 });
      await start();
      const refusal = dialog(page, 'Cannot Delete Customer');
      await expect(refusal.getByText(shown!, { exact: true })).toBeFocused();
      await refusal.getByRole('button', { name: 'Close' }).last().click();
      await expect(refusal).toBeHidden();
    }
    await page.route('**/check-deletable', (route) => route.fulfill({ status: 409, body: '{}' }), {
      times: 1,
    });
    expectStatus(page, 409);
    await start();
    await expectSaid(page, 'Failed to check if customer can be deleted');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('the server says yes', async () => {
    await start();
    const question = dialog(page, 'Permanently Delete Customer');
    await expect(question).toContainText(
      'This action CANNOT be undone and all associated licenses and activations will be deleted.',
    );
    await expect(
      question.getByText(
        'Warning: This action cannot be undone. All associated data will be permanently deleted from the system.',
        { exact: true },
      ),
    ).toBeVisible();
    await expect(question.getByRole('group', { name: 'Consequences' })).toHaveText(
      `1 license and 1 activation of "${gone.name}" will be deleted with it.`,
    );
    await expect(question.getByRole('button')).toHaveText(['', 'Cancel', 'Yes, Delete Permanently']);
    await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await inBothThemes(page, () => expectColor(question.getByRole('heading').locator('span'), 'red'));
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
    await expectSaid(page, `Customer "${gone.name}" permanently deleted`);
    await expect(rowOf(page, gone.name)).toHaveCount(0);
  });

  await page.getByPlaceholder('Search deleted customers...').fill('nothing like this');
  await expect(page.getByRole('heading', { name: 'No deleted customers' })).toBeVisible();
  await expect(page.getByText('No soft-deleted customers found')).toBeVisible();

  expectStatus(page, 400);
  await page.route(`**${customers.trash.path}?*`, (route) => route.fulfill({ status: 400, body: '{}' }));
  await page.goto('/customers/trash');
  await expect(page.getByRole('heading', { name: 'Failed to load deleted customers' })).toBeVisible();
  await page.unroute(`**${customers.trash.path}?*`);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByRole('alert')).toBeHidden();
});

test('many are deleted though one of them fails, and what was done can be undone', async ({
  page,
  server,
}) => {
  const word = unique('Partly');
  const [first, second, third] = [
    await makeCustomer(server.admin, { name: `${word} 1` }),
    await makeCustomer(server.admin, { name: `${word} 2` }),
    await makeCustomer(server.admin, { name: `${word} 3` }),
  ];
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(word)}`, server);
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await button(page, 'Delete Selected').click();
  // Another user deletes one of them first.
  await softDelete(server.admin, first);
  expectStatus(page, 409);
  // and the answer to the second is lost
  await loseAnswers(page, customers.softDelete, { id: second.customerId });
  await button(page, 'Confirm').click();
  const told = dialog(page, 'Delete Customers');
  await expect(told.getByRole('alert')).toHaveText('2 customers deleted. 1 customer could not be deleted:');
  await expect(told.getByRole('listitem')).toContainText(`${word} 1`);
  await expectAccessible(page);
  // Not while the user reads the failures: Undo would time out before.
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await told.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(page.getByText('No customers found. Try adjusting your search.')).toBeVisible();
  // The answer to the second is lost here too, and another user restored the third.
  await loseAnswers(page, customers.restore, { id: second.customerId });
  await server.admin.ok(customers.restore, { params: { id: third.customerId } });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(names(page)).toHaveText([`${word} 2`, `${word} 3`]);
  await expect(page.getByLabel('Notifications')).toContainText(`restored. Not restored: ${word} 3. `);
});
