import type { Locator } from '@playwright/test';
import { apiKeys } from '../../contract/api-keys.ts';
import { session } from '../../contract/session.ts';
import { rbac, users } from '../../contract/users.ts';
import { password } from '../api-client.ts';
import { makeApiKey, unique } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  comeBack,
  dialog,
  expect,
  expectAccessible,
  expectInSight,
  expectNoMoreFailures,
  expectSaid,
  expectStatus,
  goByKeys,
  goTo,
  loseSession,
  quiet,
  rowOf,
  signInAs,
  signInByForm,
  signInHolding,
  test,
} from './support.ts';
import { address, links, makeUser } from './users-screen.ts';

test('a super admin makes a license manager, who sees and may do only what the role may', async ({
  page,
  otherPage,
  server,
}) => {
  const email = address();
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await goByKeys(page, 'u');
  await expect(page).toHaveURL('/users');
  await expect(page).toHaveTitle('User Management · Lanyard');

  await test.step('the form: what is required, and what the server refuses', async () => {
    expectStatus(page, 401, 422);
    await button(page, 'Create New User').click();
    const create = dialog(page, 'Create New User');
    await expect(page).toHaveURL('/users?dialog=create');
    await button(page, 'Create User').click();
    for (const text of ['Email is required', 'Password is required', 'Role is required'])
      await expect(create.getByText(text, { exact: true })).toBeVisible();
    await expectAccessible(page);
    await create.getByRole('textbox', { name: 'Email' }).fill(email);
    await create.getByRole('textbox', { name: 'Name' }).fill('Kim Sato');
    await create.getByRole('textbox', { name: 'Password' }).fill('password');
    await create.getByRole('combobox', { name: 'Role' }).click();
    await expect(page.getByRole('option')).toContainText([
      'Super Admin – complete system control and configuration',
      'Admin – day-to-day system management',
      'License Manager – licence operations without customer management',
      'Binary Manager – manage application updates and releases',
      'Support Agent – customer support operations',
      'Viewer – read-only access for stakeholders',
      'Service Account – API-only access for desktop applications',
    ]);
    await page.getByRole('option', { name: /^Binary Manager/ }).click();
    const own = create.getByLabel('Your Own Password');
    await expect(own, 'for a role that could approve').toBeVisible();
    await create.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: /^Admin/ }).click();
    await own.pressSequentially('a guess');
    await create.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Create User').click();
    await expect(create.getByText('Is not right')).toBeVisible();
    await expect(create.getByText('The current password is not right.')).toBeHidden();
    await create.getByRole('textbox', { name: 'Password', exact: true }).fill('password');
    await create.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: /^License Manager/ }).click();
    await expect(own, 'only for a role that could take over accounts or approve').toBeHidden();
    await button(page, 'Create User').click();
    await expect(
      create.getByText('This password is one of the most common ones. Choose another.'),
    ).toBeVisible();
    await create.getByRole('textbox', { name: 'Password' }).fill(password);
    // the role may take accounts over since a moment ago
    const needed = { error: 'Enter your own password too.', code: 'RULE_VIOLATED', requestId: 'none' };
    const details = [{ path: 'currentPassword', message: 'Is needed' }];
    await page.route(
      `**${users.create.path}`,
      (route) => route.fulfill({ status: 422, json: { success: false, ...needed, details } }),
      { times: 1 },
    );
    await button(page, 'Create User').click();
    await expect(own).toHaveAccessibleDescription(/Is needed/);
    await own.pressSequentially('a');
    await own.press('Backspace');
    await own.pressSequentially(password);
    await button(page, 'Create User').click();
    await expectSaid(page, 'User created successfully');
    await expect(page).toHaveURL('/users');
  });

  await page.getByPlaceholder('Search users...').fill(email);
  await expect(page.getByRole('row')).toHaveCount(2);
  const row = rowOf(page, email);
  await expect(row).toContainText('License Manager – licence operations without customer management');
  await expect(row).toContainText('Active');
  await expect(row).toContainText('Kim Sato');
  await expect(page.getByRole('columnheader')).toHaveText(['Email', 'Name', 'Role', 'Status', 'Actions']);
  await expectAccessible(page);

  await test.step('that person, elsewhere', async () => {
    await otherPage.goto('/licenses');
    await signInByForm(otherPage, email);
    await expect(links(otherPage)).toHaveText([
      'Today',
      'Licenses',
      'Customers',
      'Analytics',
      'Releases',
      'Machines',
    ]);
    await goTo(otherPage, '/users');
    await expect(otherPage.getByRole('heading', { name: 'You may not see this screen' })).toBeVisible();
    await expect(otherPage.getByText('It needs the permission users:read.')).toBeVisible();
    await expect(otherPage.getByRole('button', { name: 'Create New User' })).toBeHidden();
  });

  await test.step('a reset password, with its four messages, ends the open session', async () => {
    await row.getByRole('button', { name: 'Reset Password' }).click();
    const reset = dialog(page, 'Reset Password');
    const fresh = reset.getByRole('textbox', { name: 'New Password' });
    const again = reset.getByRole('textbox', { name: 'Confirm Password' });
    const send = reset.getByRole('button', { name: 'Reset Password' });
    const refused = async (field: Locator, why: string) => {
      await send.click();
      await expect(field).toBeFocused();
      await expect(field).toHaveAccessibleDescription(why);
    };
    await refused(fresh, 'Please enter password details');
    await fresh.fill('12345');
    await refused(again, 'Please fill in all password fields');
    await again.fill('12345');
    await refused(fresh, 'New password must be at least 6 characters long');
    await fresh.fill('fresh and long');
    await refused(again, 'New passwords do not match');
    await expectAccessible(page);
    await again.fill('fresh and long');
    // any call may be the next one, also of a notice that is loaded again
    expectStatus(otherPage, 401);
    await send.click();
    await expectSaid(page, 'Password reset successfully');

    await otherPage.goto('/customers');
    await expect(otherPage).toHaveURL(/\/login\?redirect=/);
    await signInByForm(otherPage, email, 'fresh and long');
    await expect(otherPage).toHaveURL(/\/customers/);
  });
});

test('a user is edited, deactivated, reactivated and deleted', async ({ page, server }) => {
  const user = await makeUser(server, 'support_agent');
  await signInAs(page, 'super_admin', `/users?search=${user.email}`, server);
  const row = rowOf(page, user.email);

  await row.press('Enter');
  const edit = dialog(page, 'Edit User');
  await expect(page).toHaveURL(new RegExp(`edit=${user.id}`));
  await expect(edit.getByRole('textbox', { name: 'Email' })).toBeFocused();
  await edit.getByRole('textbox', { name: 'Email' }).fill('');
  await button(page, 'Update User').click();
  await expect(edit.getByText('Email is required')).toBeVisible();
  await edit.getByRole('textbox', { name: 'Email' }).fill(user.email);
  await edit.getByRole('textbox', { name: 'Name' }).fill('Kim S. Sato');
  await edit.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: /^Viewer/ }).click();

  await test.step('someone else was quicker', async () => {
    expectStatus(page, 409);
    const theirs = { name: 'Kim Ito', role: 'license_manager' };
    await server.admin.ok(users.update, { params: { id: user.id }, body: theirs });
    await button(page, 'Update User').click();
    const conflict = dialog(page, 'Someone else changed this meanwhile');
    await expect(rowOf(conflict, 'Name').getByRole('cell')).toHaveText(['Kim Ito', 'Kim S. Sato']);
    await expect(rowOf(conflict, 'Role').getByRole('cell')).toHaveText(['License Manager', 'Viewer']);
    await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
    await expectSaid(page, 'User updated successfully');
  });
  await expect(row).toContainText('Kim S. Sato');

  await row.getByRole('button', { name: 'Deactivate' }).click();
  await dialog(page, 'Deactivate User').getByRole('button', { name: 'Deactivate' }).click();
  await expectSaid(page, 'User deactivated successfully');
  await expect(row).toContainText('Inactive');
  const filter = async (by: string, value: string) => {
    await page.getByRole('combobox', { name: by }).click();
    await page.getByRole('option', { name: value, exact: true }).click();
  };
  const counted = page.locator('[aria-live="polite"]', { hasText: /result/ });
  await expect(counted).toHaveText('1 result');
  await filter('Role', 'Viewer');
  await filter('Status', 'Active');
  await expect(page.getByText('No users found. Try adjusting your search.')).toBeVisible();
  await expect(counted).toHaveText('No results');
  await expect(page).toHaveURL(/role=viewer&status=active|status=active&role=viewer/);
  await filter('Status', 'Inactive');
  await expect(row).toBeVisible();
  await page.getByRole('button', { name: 'Remove filter Status: Inactive' }).click();
  await filter('Role', 'Super Admin');
  await expect(row).toBeHidden();
  await page.getByRole('button', { name: 'Clear Filters' }).click();
  // one's own change is no reason to be refused, also where the list is slow
  const listed = await holdBack(page, (url) => url.pathname === users.list.path, 'GET');
  await row.getByRole('button', { name: 'Reactivate' }).click();
  await dialog(page, 'Reactivate User').getByRole('button', { name: 'Reactivate' }).click();
  await expectSaid(page, 'User reactivated successfully');
  await expect(row.getByRole('button', { name: 'Deactivate' })).toBeVisible();

  await row.getByRole('button', { name: 'Reset Password' }).click();
  const reset = dialog(page, 'Reset Password');
  for (const name of ['New Password', 'Confirm Password'])
    await reset.getByRole('textbox', { name }).fill('fresh and long');
  await reset.getByRole('button', { name: 'Reset Password' }).click();
  await expectSaid(page, 'Password reset successfully');

  await row.getByRole('button', { name: 'Delete' }).click();
  const question = dialog(page, 'Delete User');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
  await expectSaid(page, 'User deleted successfully');
  listed();
  await expect(page.getByText('No users found. Try adjusting your search.')).toBeVisible();
});

test('API keys that were chosen before the session ended are revoked, also where their list does not come again', async ({
  page,
  server,
}) => {
  expectStatus(page, 'aborted');
  const user = await makeUser(server, 'admin');
  const key = await makeApiKey(await server.apiAs(user.email));
  const { email } = await signInAs(page, 'super_admin', `/users?search=${user.email}`, server);
  await rowOf(page, user.email).getByRole('button', { name: 'Deactivate' }).click();
  const question = dialog(page, 'Deactivate User');
  await question.getByRole('checkbox', { name: key.name }).check();
  await page.route(`**${apiKeys.list.path}?createdBy=*`, (route) => route.abort());
  await loseSession(page);
  await signInByForm(page, email);
  await expect(question).toContainText('The API keys of this user could not be loaded.');
  await question.getByRole('checkbox', { name: key.name }).uncheck();
  await question.getByRole('checkbox', { name: key.name }).check();
  await question.getByRole('button', { name: 'Deactivate' }).click();
  await expectSaid(page, 'User deactivated successfully');
  const { revokedAt } = await server.admin.ok(apiKeys.get, { params: { keyId: key.id } });
  expect(revokedAt).not.toBeNull();
});

test('a user who is deactivated, and what a colleague does to one meanwhile', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/users', server);

  await test.step('deactivating a user offers to revoke the API keys that they created', async () => {
    const user = await makeUser(server, 'admin');
    // with one that is listed before it and takes nothing over
    const roleId = unique('aa').toLowerCase().replaceAll(/\W/g, '_');
    const body = { roleId, description: 'Reads', copyFrom: 'viewer' };
    await server.admin.ok(rbac.createRole, { body });
    await server.admin.ok(rbac.assignRole, { params: { userId: user.id, roleId } });
    const api = await server.apiAs(user.email);
    const [left, gone, stuck] = [await makeApiKey(api), await makeApiKey(api), await makeApiKey(api)];
    expectStatus(page, 500);
    await page.route(`**${apiKeys.list.path}/${stuck.id}`, (route) =>
      route.fulfill({ status: 500, body: JSON.stringify({ error: 'It is stuck.' }) }),
    );
    await goTo(page, `/users?search=${user.email}`);
    await rowOf(page, user.email).getByRole('button', { name: 'Deactivate' }).click();
    const question = dialog(page, 'Deactivate User');
    await expect(question).toContainText('1 open session of this user ends with the next call.');
    await expect(question).toContainText(
      '3 API keys created by this user continue to work unless they are revoked.',
    );
    await expect(question.getByRole('checkbox')).toHaveCount(3);
    await expect(question.getByRole('checkbox', { checked: true })).toHaveCount(0);
    await expectAccessible(page);
    for (const { name } of [gone, stuck])
      await question.getByRole('checkbox', { name: new RegExp(`^${name} `) }).check();
    await question.getByRole('button', { name: 'Deactivate' }).click();
    await expectSaid(page, 'User deactivated successfully');
    await expectSaid(page, `API key "${stuck.name}" was not revoked: It is stuck.`);
    await expect(question).toHaveCount(0);
    const { apiKeys: keys } = await server.admin.ok(apiKeys.list, { query: { createdBy: user.id } });
    const isRevoked = (id: string) => keys.find((key) => key.id === id)!.revokedAt !== null;
    expect([left, gone, stuck].map(({ id }) => isRevoked(id))).toEqual([false, true, false]);
    await expectNoMoreFailures(page);

    // who knows the password of an account that may take others over may be at an open tab
    expectStatus(page, 401);
    const counted = await holdBack(page, (url) => url.pathname === `/api/users/${user.id}/impact`);
    await rowOf(page, user.email).getByRole('button', { name: 'Reactivate' }).click();
    const again = dialog(page, 'Reactivate User');
    const own = again.getByLabel('Your Own Password');
    await own.fill('a guess');
    // Enter waits for the consequences, as the button does
    const confirm = again.getByRole('button', { name: 'Reactivate' });
    await expect(confirm).toHaveAttribute('aria-disabled', 'true');
    await own.press('Enter');
    await expect(confirm).not.toHaveAttribute('data-loading');
    counted();
    await expect(confirm).not.toHaveAttribute('aria-disabled');
    await expect(again.getByRole('alert')).toHaveCount(0);
    await own.press('Enter');
    await expect(again.getByRole('alert')).toHaveText('The current password is not right.');
    await own.fill(password);
    await confirm.click();
    await expectSaid(page, 'User reactivated successfully');
  });

  await test.step('what a colleague does to a user meanwhile', async () => {
    expectStatus(page, 409);
    await goTo(page, '/users');

    await test.step('a button of a row asks what it stood for when it was pressed', async () => {
      const { id, email } = await makeUser(server, 'viewer');
      await goTo(page, `/users?search=${email}`);
      const press = (name: string) => rowOf(page, email).getByRole('button', { name });
      await expect(press('Deactivate')).toBeVisible();
      const listed = await holdBack(page, (url) => url.pathname === users.list.path);
      await comeBack(page);
      await press('Deactivate').hover();
      await page.mouse.down();
      await server.admin.ok(users.deactivate, { params: { id } });
      listed();
      await expect(press('Reactivate')).toBeVisible();
      await page.mouse.up();
      await expect(page.getByRole('dialog')).toHaveAccessibleName('Deactivate User');
      await page.keyboard.press('Escape');
    });

    await test.step('the API keys of a user whom a colleague deactivates first are revoked all the same', async () => {
      const user = await makeUser(server, 'admin');
      const key = await makeApiKey(await server.apiAs(user.email));
      await goTo(page, `/users?search=${user.email}`);
      await rowOf(page, user.email).getByRole('button', { name: 'Deactivate' }).click();
      const question = dialog(page, 'Deactivate User');
      await question.getByRole('checkbox').check();
      await server.admin.ok(users.deactivate, { params: { id: user.id } });
      await question.getByRole('button', { name: 'Deactivate' }).click();
      await expect(question).toHaveCount(0);
      const { apiKeys: keys } = await server.admin.ok(apiKeys.list, { query: { createdBy: user.id } });
      expect(keys.find(({ id }) => id === key.id)!.revokedAt).not.toBeNull();
    });

    await test.step('a password that a colleague has just reset is not reset again unseen', async () => {
      const { id, email } = await makeUser(server, 'viewer');
      await goTo(page, `/users?search=${email}`);
      await rowOf(page, email).getByRole('button', { name: 'Reset Password' }).click();
      const reset = dialog(page, 'Reset Password');
      for (const name of ['New Password', 'Confirm Password'])
        await reset.getByRole('textbox', { name }).fill('what nobody was told');
      const theirs = 'what the user was told';
      const body = { newPassword: theirs, confirmPassword: theirs, currentPassword: server.printed.password };
      await server.admin.ok(users.resetPassword, { params: { id }, body });
      await reset.getByRole('button', { name: 'Reset Password' }).click();
      await expect(reset.getByRole('alert')).toHaveText(
        'This user was changed since you saw it. Look at it again.',
      );
      const login = { email, password: theirs };
      expect((await server.api().call(session.login, { body: login })).status).toBe(200);
    });
  });
});

test('one long address pushes nothing out of sight; one’s own row says why not; buttons need their permission', async ({
  page,
  server,
}) => {
  const long = `maximiliane.von-hohenstein-wagner.${Date.now()}@universitaetsklinikum.example`;
  await makeUser(server, 'license_manager', long, 'Maximiliane von Hohenstein-Wagner');
  const { email } = await signInAs(page, 'super_admin', `/users?search=${long}`, server);
  const row = rowOf(page, long);
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await expectInSight(row.getByText('Active', { exact: true }));
    for (const name of ['Edit', 'Delete']) await expectInSight(row.getByRole('button', { name }));
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await expectInSight(row.getByRole('button', { name: 'Edit' }));

  await page.setViewportSize({ width: 1280, height: 720 });
  await goTo(page, '/users');
  const own = rowOf(page, email);
  await expect(own.getByRole('button', { name: 'Deactivate' })).toHaveAttribute('aria-disabled', 'true');
  await expect(own.getByRole('button', { name: 'Delete' })).toHaveAttribute(
    'title',
    'You cannot delete yourself.',
  );
  await signInAs(page, 'admin', '/users', server);
  const superior = rowOf(page, email);
  await expect(superior.getByRole('button', { name: 'Edit' })).toHaveAttribute(
    'title',
    `${email} may do more than you, so you cannot change this user.`,
  );
  await expect(page.getByRole('button', { name: 'Delete', exact: true })).toHaveCount(0);
  await expect(button(page, 'Create New User')).toBeVisible();

  // further calls of the page would be refused
  await quiet(page);
  await button(page, 'Logout').click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await signInHolding(page, [{ resource: 'users', action: 'read' }], `/users?search=${email}`, server);
  await expect(superior).toBeVisible();
  for (const name of ['Create New User', 'Edit', 'Reset Password', 'Deactivate', 'Delete'])
    await expect(button(page, name)).toHaveCount(0);
});

test('one’s own new role counts at once', async ({ page, server }) => {
  const roleId = `reader_${Date.now()}`;
  await server.admin.ok(rbac.createRole, { body: { roleId, description: 'reads', copyFrom: 'viewer' } });
  const permissions = [{ resource: 'users', action: 'read' } as const];
  const body = { description: 'reads', requiresSecondFactor: false, permissions };
  await server.admin.ok(rbac.updateRole, { params: { roleId }, body });
  const { email } = await makeUser(server, 'super_admin');
  await page.goto(`/users?search=${email}`);
  await signInByForm(page, email);
  await rowOf(page, email).getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit User');
  const proof = edit.getByLabel('Your Own Password');
  await edit.getByRole('textbox', { name: 'Email' }).press('End');
  await page.keyboard.type('e');
  await expect(proof, 'for another email of one’s own, who could be locked out').toBeVisible();
  await proof.pressSequentially('not mine');
  await edit.getByRole('textbox', { name: 'Email' }).press('End');
  await page.keyboard.press('Backspace');
  await expect(proof).toBeHidden();
  await edit.getByRole('textbox', { name: 'Name' }).pressSequentially('Renamed');
  await button(page, 'Update User').click();
  await expect(edit, 'what was typed for that email is not checked').toBeHidden();
  await rowOf(page, email).getByRole('button', { name: 'Edit' }).click();
  await edit.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: /^Reader/ }).click();
  await button(page, 'Update User').click();
  await expect(button(page, 'Create New User')).toHaveCount(0);
  await expect(rowOf(page, email)).toBeVisible();
});

test('failures speak the words of the spec, and the seven roles stand in', async ({ page, server }) => {
  const user = await makeUser(server, 'viewer');
  expectStatus(page, 500);
  for (const path of [rbac.roles.path, `${users.list.path}**`])
    await page.route(`**${path}`, (route) =>
      route.request().method() === 'GET' && path !== rbac.roles.path
        ? route.fallback()
        : route.fulfill({ status: 500, body: '{}' }),
    );
  await signInAs(page, 'super_admin', `/users?search=${user.email}`, server);
  const row = rowOf(page, user.email);
  await expect(row).toContainText('Viewer – read-only access for stakeholders');
  const refused = async (action: string, confirm = action) => {
    await row.getByRole('button', { name: action }).click();
    const asked = dialog(page, `${action} User`);
    await asked.getByRole('button', { name: confirm }).click();
    await expect(page.getByText(`Failed to ${action.toLowerCase()} user`)).toBeVisible();
    await asked.getByRole('button', { name: 'Cancel' }).click();
  };
  await refused('Deactivate');
  await refused('Delete', 'Yes, Delete Permanently');
  await row.getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit User');
  await expect(edit.getByRole('combobox', { name: 'Role' })).toHaveValue(/^Viewer/);
  await edit.getByRole('textbox', { name: 'Name' }).fill('Kim Ito');
  await button(page, 'Update User').click();
  await expect(edit.getByRole('alert')).toHaveText('Failed to update user');
  await edit.getByRole('button', { name: 'Cancel' }).click();
  await button(page, 'Discard').click();
  await server.admin.ok(users.deactivate, { params: { id: user.id } });
  await page.reload();
  await refused('Reactivate');
  await button(page, 'Create New User').click();
  const create = dialog(page, 'Create New User');
  await create.getByRole('textbox', { name: 'Email' }).fill(address());
  await create.getByRole('textbox', { name: 'Password' }).fill(password);
  await create.getByRole('combobox', { name: 'Role' }).click();
  await expect(page.getByRole('option')).toHaveCount(7);
  await page.getByRole('option', { name: /^Viewer/ }).click();
  await button(page, 'Create User').click();
  await expect(create.getByRole('alert')).toHaveText('Failed to create user');
});
