import { generateSync } from 'otplib';
import { account } from '../../contract/account.ts';
import { audit } from '../../contract/audit.ts';
import { rbac, users } from '../../contract/users.ts';
import { makeCustomer, makeLicense, unique } from '../factories.ts';
import { password } from '../api-client.ts';
import {
  button,
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  rowOf,
  seenOn,
  signInAs,
  signInByForm,
  test,
} from './support.ts';
import { links, makeUser } from './users-screen.ts';

test('a role is copied from another, saved by two users concurrently, and deleted when no user has it', async ({
  page,
  server,
}) => {
  const roleId = `desk_${Date.now()}`;
  await signInAs(page, 'super_admin', '/users?tab=roles&role=support_agent', server);
  await button(page, 'New Role').click();
  const create = dialog(page, 'New Role');
  await button(page, 'Create Role').click();
  await expect(create.getByText('Description is required')).toBeVisible();
  await create.getByRole('textbox', { name: 'Name' }).fill(roleId);
  await create.getByRole('textbox', { name: 'Description' }).fill('answers the phone');
  await create.getByRole('combobox', { name: 'Rights of' }).click();
  await page.getByRole('option', { name: /^License Manager/ }).click();
  await button(page, 'Create Role').click();
  await expect(page).toHaveURL(new RegExp(`role=${roleId}`));
  const roles = await server.admin.ok(rbac.roles);
  const made = roles.find((role) => role.roleId === roleId)!;
  expect(made.permissions).toEqual(roles.find((role) => role.roleId === 'license_manager')!.permissions);

  const description = page.getByRole('textbox', { name: 'Description' });
  const cell = (name: string) => page.getByRole('checkbox', { name, exact: true });
  const byAnother = (text: string, permissions = made.permissions) =>
    server.admin.ok(rbac.updateRole, {
      params: { roleId },
      body: { description: text, requiresSecondFactor: false, permissions },
    });
  const conflict = dialog(page, 'Someone else changed this meanwhile');

  await test.step('someone else was quicker: what each of them changed is kept', async () => {
    expectStatus(page, 409);
    await cell('Customers: update').check();
    await cell('Customers: update').press('Enter');
    await expect(page.getByRole('group', { name: 'Consequences' })).toContainText(
      'No active user has this role.',
    );
    await byAnother('answers at the door', [...made.permissions, { resource: 'audit', action: 'read' }]);
    await button(page, 'Save Changes').press('Enter');
    await expect(description).toHaveValue('answers at the door');
    await expect(button(page, 'Save Changes')).toBeFocused();
    await expect(cell('Customers: update')).toBeChecked();
    await expect(cell('Audit: read')).toBeChecked();
    await page.emulateMedia({ forcedColors: 'active' });
    const background = (name: string) => cell(name).evaluate((box) => getComputedStyle(box).backgroundColor);
    expect(await background('Audit: read')).not.toBe(await background('Audit: export'));
    await page.emulateMedia({ forcedColors: 'none' });
    await expect(button(page, 'Save Changes')).toBeDisabled();
    // also that the next step waits for its own
    await expectSaid(page, 'Role updated successfully');
  });

  await test.step('again: what was typed is not lost, and is saved knowingly', async () => {
    await description.fill('answers nothing');
    await button(page, 'Discard').press('Enter');
    await expect(description).toHaveValue('answers at the door');
    await expect(button(page, 'Discard')).toBeFocused();
    await description.fill('answers mine');
    await byAnother('answers theirs');
    await button(page, 'Save Changes').click();
    await expect(conflict.getByRole('row')).toHaveText(['FieldTheirsYours', /^Description/]);
    await page.setViewportSize({ width: 390, height: 844 });
    const both = conflict.getByRole('region', { name: 'What you both changed' });
    await expect(both.getByText('answers theirs')).toBeInViewport();
    expect(await both.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await expect(conflict.getByRole('button', { name: 'Save Mine Anyway' })).toBeInViewport({ ratio: 1 });
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.keyboard.press('Escape');
    await expect(conflict).toBeHidden();
    await expect(description).toHaveValue('answers mine');
    await description.press('Enter');
    await button(page, 'Save Mine Anyway').click();
    await expectSaid(page, 'Role updated successfully');
    await expect(conflict).toBeHidden();
    const saved = (await server.admin.ok(rbac.roles)).find((role) => role.roleId === roleId)!;
    expect(saved.description).toBe('answers mine');
  });

  await test.step('deleted once nobody has it', async () => {
    const user = await makeUser(server, roleId);
    await page.reload();
    await expect(button(page, 'Delete')).toHaveAttribute('title', 'There are users with this role.');
    await server.admin.ok(users.delete, { params: { id: user.id } });
    await page.reload();
    await button(page, 'Delete').click();
    await dialog(page, 'Delete Role').getByRole('button', { name: 'Delete' }).click();
    await expectSaid(page, 'Role deleted successfully');
    await expect(page).not.toHaveURL(new RegExp(roleId));
    expect((await server.admin.ok(rbac.roles)).map((role) => role.roleId)).not.toContain(roleId);
  });

  await test.step('deleted by another while it is edited: what was typed stays', async () => {
    expectStatus(page, 404);
    const role = { roleId: `${roleId}_gone`, description: 'answers', copyFrom: 'viewer' };
    await server.admin.ok(rbac.createRole, { body: role });
    await page.goto(`${server.url}/users?tab=roles&role=${role.roleId}`);
    await expect(page.getByRole('button', { name: /gone/i })).toBeVisible();
    await description.fill('answers at night');
    await server.admin.ok(rbac.deleteRole, { params: { roleId: role.roleId } });
    await button(page, 'Save Changes').click();
    await expect(page.getByRole('alert')).toHaveText('There is no such role. It may have been deleted.');
    await expect(page.getByRole('button', { name: /gone/i })).toHaveCount(0);
    await expect(description).toHaveValue('answers at night');
    await button(page, 'Discard').click();
    await expect(description).not.toHaveValue('answers at night');
  });
});

test('a role requires a second factor; an administrator sees sessions, ends one, and resets the factor', async ({
  page,
  otherPage,
  server,
}) => {
  const roleId = `night_${Date.now()}`;
  const made = { roleId, description: 'answers at night', copyFrom: 'viewer' };
  await server.admin.ok(rbac.createRole, { body: made });
  await signInAs(page, 'super_admin', `/users?tab=roles&role=${roleId}`, server);
  await page.getByRole('checkbox', { name: 'Requires a second factor' }).check();
  await page.getByRole('checkbox', { name: 'Licenses: update' }).check();
  await expectAccessible(page);
  await button(page, 'Save Changes').click();
  await expectSaid(page, 'Role updated successfully');
  const role = (await server.admin.ok(rbac.roles)).find((one) => one.roleId === roleId)!;
  expect(role).toMatchObject({ requiresSecondFactor: true, description: made.description });
  expect(role.permissions).toContainEqual({ resource: 'licenses', action: 'update' });

  const user = await makeUser(server, roleId);
  await otherPage.goto('/account');
  await signInByForm(otherPage, user.email);
  await expect(button(otherPage, 'Logout')).toBeVisible();
  const theirs = await server.apiAs(user.email);
  const { secret } = await theirs.ok(account.enrollSecondFactor, { body: { currentPassword: password } });
  await theirs.ok(account.confirmSecondFactor, { body: { code: generateSync({ secret }) } });

  await test.step('the super admin sees the session, ends it, and resets the second factor', async () => {
    await page.goto(`/users?search=${user.email}`);
    await chooseInMenu(rowOf(page, user.email), 'Sessions');
    const sessions = dialog(page, 'Sessions of Kim Sato');
    await expect(sessions.getByRole('row')).toHaveCount(3);
    const browser = sessions.getByRole('row').filter({ hasText: /Chrome \d+ on \w+/ });
    await expect(browser).toBeVisible();
    await expectAccessible(page);
    expectStatus(otherPage, 401);
    await browser.getByRole('button', { name: 'End' }).click();
    await expectSaid(page, 'Session ended successfully');
    await sessions.getByRole('button', { name: 'Reset Second Factor' }).click();
    const question = dialog(page, 'Reset Second Factor');
    await expect(question).toContainText('Reset the second factor of Kim Sato?');
    await page.keyboard.press('Escape');
    await expect(question).toHaveCount(0);
    await expect(sessions.getByText('Set up. Reset it')).toBeVisible();
    await sessions.getByRole('button', { name: 'Reset Second Factor' }).click();
    const own = question.getByLabel('Your Own Password');
    const reset = question.getByRole('button', { name: 'Reset', exact: true });
    expectStatus(page, 401);
    await own.fill('not mine');
    await reset.click();
    await expect(question.getByRole('alert')).toContainText('password is not right');
    await expect(own).toHaveAttribute('aria-invalid', 'true');
    await expectAccessible(page);
    await own.fill(password);
    await own.press('Enter');
    await expectSaid(page, 'Second factor reset successfully');
    await expect(sessions.getByText('This user signs in with the password alone.')).toBeVisible();
    await otherPage.goto('/account');
    await expect(otherPage).toHaveURL(/\/login/);
  });
});

test('the console as another role: what it shows, and that nothing can be changed', async ({
  page,
  server,
}) => {
  // A separate user, since the test changes the password.
  const { email } = await makeUser(server, 'super_admin');
  await page.goto('/users?tab=roles&role=support_agent');
  await signInByForm(page, email);
  const changes: string[] = [];
  await button(page, 'See the Console as This Role').click();
  await expect(page.getByText('You see the console as Support Agent. Nothing can be changed.')).toBeVisible();
  await expect(links(page)).toHaveText([
    'Today',
    'Licenses',
    'Customers',
    'Analytics',
    'Releases',
    'Machines',
    'Audit Log',
  ]);
  await expectAccessible(page);
  page.on('request', (request) => request.method() !== 'GET' && changes.push(request.url()));
  await page.getByRole('link', { name: 'Kim Sato' }).click();
  await page.getByRole('textbox', { name: 'Current Password' }).fill(password);
  await page.getByRole('textbox', { name: 'New Password' }).fill('fresh and long');
  await page.getByRole('textbox', { name: 'Confirm Password' }).fill('fresh and long');
  await button(page, 'Change Password').click();
  await expect(page.getByRole('alert')).toHaveText(
    'You see the console as Support Agent. Nothing can be changed: choose Exit first.',
  );
  expect(changes).toEqual([]);
  await button(page, 'Exit').click();
  await expect(links(page).filter({ hasText: 'Users' })).toBeVisible();

  await button(page, 'Change Password').click();
  await expectSaid(page, 'Password changed successfully');
  expect(changes).toHaveLength(1);

  // the server answers for the user, who may read licenses and customers
  const { customerId, name } = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, { customerId });
  const hostname = unique('WS').replace(' ', '-');
  await seenOn(server, license, hostname, { hostname });
  await goTo(page, '/users?tab=roles&role=binary_manager');
  await button(page, 'See the Console as This Role').click();
  await expect(page.getByText('You see the console as Binary Manager.')).toBeVisible();
  await goTo(page, `/machines?search=${hostname}`);
  let files = 0;
  page.on('download', () => files++);
  await page.getByRole('link', { name: 'Export CSV' }).click();
  await expect(
    page.getByText(/^You see the console as Binary Manager\. Files are those of your/),
  ).toBeVisible();
  expect(files).toBe(0);
  await page.getByRole('link', { name: hostname }).click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText(hostname);
  await page.getByRole('tab', { name: 'License Activations (1)' }).click();
  await expect(page.getByText('You may not read licenses.')).toBeVisible();
  await expect(page.getByText('No validations or update events to show.')).toBeVisible();
  for (const hidden of [license.licenseKey, name]) await expect(page.getByText(hidden)).toHaveCount(0);

  await button(page, 'Exit').click();
  await goTo(page, '/users?tab=roles&role=admin');
  await button(page, 'See the Console as This Role').click();
  await expect(page.getByText('You see the console as Admin.')).toBeVisible();
  await goTo(page, '/audit');
  page.on('request', (request) => request.url().includes(audit.exportCsv.path) && files++);
  await button(page, 'Export CSV').click();
  await expect(page.getByText(/^You see the console as Admin\. Files are those of your/)).toBeVisible();
  expect(files).toBe(0);
});

test('another role takes the place of one with unsaved changes only when these are discarded', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/users?tab=roles&role=viewer', server);
  const cell = page.getByRole('checkbox', { name: 'Licenses: update' });
  const roles = page.getByRole('navigation', { name: 'Roles' });
  const question = dialog(page, 'Discard changes?');
  await cell.check();
  await roles.getByRole('button', { name: /^Admin/ }).click();
  await expect(question).toContainText('What you entered is not saved.');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Keep Editing' }).click();
  await expect(question).toHaveCount(0);
  await expect(page).toHaveURL(/role=viewer$/);
  await expect(cell).toBeChecked();

  await page.getByRole('tab', { name: 'Users' }).click();
  await expect(question).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(cell).toBeChecked();

  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await expect(question).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(cell).toBeChecked();

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type a command or search' }).fill('log out');
  await page.keyboard.press('Enter');
  await expect(question.getByRole('button', { name: 'Keep Editing' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(cell).toBeChecked();

  await roles.getByRole('button', { name: /^Admin/ }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(page).toHaveURL(/role=admin$/);
  await roles.getByRole('button', { name: /^Viewer/ }).click();
  await expect(cell).not.toBeChecked();

  await cell.check();
  await button(page, 'Logout').click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
});
