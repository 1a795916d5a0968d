import { generateSync } from 'otplib';
import { account } from '../../contract/account.ts';
import type { Permission, RoleName } from '../../contract/permissions.ts';
import { session } from '../../contract/session.ts';
import { rbac, users } from '../../contract/users.ts';
import { makeHolder, unique } from '../factories.ts';
import { password } from '../api-client.ts';
import { loseAnswers } from './calls.ts';
import { qrTextOf } from './qr.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  loseSession,
  quiet,
  rowOf,
  signInByForm,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';
import { links, makeUser } from './users-screen.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name });
const section = (page: Page, name: string) => page.getByRole('region', { name });
const sessions = (page: Page) => section(page, 'Sessions').locator('tbody tr');

async function makePerson(server: ConsoleServer, role: RoleName = 'viewer') {
  const email = `${unique('robin').replace(' ', '-')}.${Date.now()}@lanyard.test`;
  await makeUser(server, role, email, 'Robin Berg');
  return email;
}

/** The code that the app shows now, or this many seconds later: each code signs in once. */
const codeOf = (secret: string, laterBy = 0) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + laterBy });

test('a second factor: scanned, asked for at sign-in, a recovery code in its place, removed', async ({
  page,
  server,
}) => {
  const email = await makePerson(server, 'super_admin');
  expectStatus(page, 400, 401, 422, 'aborted');
  await page.goto('/account');
  await signInByForm(page, email);
  const factor = section(page, 'Second factor');
  await expect(factor).toContainText('Not set up');
  let secret = '';
  let recovery: string[] = [];

  await test.step('scan, and prove it', async () => {
    await button(page, 'Set Up').click();
    const setUp = dialog(page, 'Set up a second factor');
    await setUp.getByRole('textbox', { name: 'Current Password' }).fill(password);
    await button(page, 'Continue').click();
    const url = (await setUp
      .getByRole('link', { name: 'open it in an app on this device' })
      .getAttribute('href'))!;
    secret = new URL(url).searchParams.get('secret')!;
    await expect(setUp.getByText(secret.slice(0, 4)).first()).toBeVisible();
    expect(await qrTextOf(setUp.getByRole('img', { name: 'The key as a QR code' }))).toBe(url);
    await expectAccessible(page);
    // The app has the key already, so it is still that one after the next sign-in.
    await loseSession(page);
    await signInByForm(page, email);
    await expect(setUp.getByRole('link', { name: 'open it in an app on this device' })).toHaveAttribute(
      'href',
      url,
    );
    await expect(field(page, 'Code')).toBeFocused();
    await page.keyboard.type('000000');
    await button(page, 'Confirm').click();
    await expect(field(page, 'Code')).toHaveAccessibleDescription(/The code is not right/);
    await expect(field(page, 'Code')).toHaveAttribute('aria-invalid', 'true');
    await expect(field(page, 'Code')).toBeFocused();
    await field(page, 'Code').clear();
    // as apps show it
    await page.keyboard.insertText(` ${codeOf(secret).replace(/^.../, '$& ')} `);
    const calls = `**${account.confirmSecondFactor.path}`;
    // Carried out, but the answer is lost on the way.
    await loseAnswers(page, account.confirmSecondFactor);
    const sent = await holdBack(page, calls);
    await page.keyboard.press('Enter');
    await expect(button(page, 'Confirm')).toBeDisabled();
    await page.keyboard.type('1');
    sent();
    await expect(setUp.getByRole('alert')).toContainText('may be active already');
    await expect(setUp.getByRole('button', { name: 'Close' })).toHaveCount(0);
    const free = await holdBack(page, calls);
    await button(page, 'Ask Again').click();
    // The codes are being loaded, and are shown only once.
    await page.keyboard.press('Escape');
    await expect(setUp.getByRole('button', { name: 'Close' })).toHaveCount(0);
    free();
    const codes = dialog(page, 'Recovery codes');
    await expect(codes.getByRole('listitem')).toHaveCount(10);
    recovery = await codes.getByRole('listitem').allTextContents();
    await expect(codes.getByText('Each of these codes signs you in once')).toBeFocused();
    // Even the end of the session does not close them.
    await loseSession(page);
    await signInByForm(page, email);
    await field(page, 'Code').fill(recovery[9]!);
    await button(page, 'Sign In').click();
    await expect(codes.getByRole('listitem')).toHaveText(recovery);
    await codes.getByRole('checkbox', { name: 'I have kept the codes' }).check();
    await button(page, 'Done').click();
    await expect(factor).toContainText('9 recovery codes left');
  });

  const signInWith = async (code: string) => {
    await button(page, 'Logout').click();
    await signInByForm(page, email);
    await field(page, 'Code').fill(code);
    await button(page, 'Sign In').click();
  };
  await test.step('a code of the app, after a wrong one', async () => {
    await button(page, 'Logout').click();
    await signInByForm(page, email);
    await button(page, 'Back').press('Enter');
    await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
    await page.keyboard.press('Enter');
    await field(page, 'Code').fill('12345');
    await expectAccessible(page);
    await button(page, 'Sign In').click();
    await expect(page.getByRole('alert')).toHaveText('Must be six digits or a recovery code');
    await expect(field(page, 'Code')).toBeFocused();
    await expect(field(page, 'Code')).toHaveAttribute('aria-invalid', 'true');
    await page.keyboard.type('000000');
    await button(page, 'Sign In').click();
    await expect(page.getByRole('alert')).not.toHaveText(/Must be/);
    await expect(field(page, 'Code')).toBeFocused();
    await expect(field(page, 'Code')).toHaveAttribute('aria-invalid', 'true');
    await page.keyboard.type(codeOf(secret, 30));
    await button(page, 'Sign In').click();
    await expect(button(page, 'Logout')).toBeVisible();
  });

  await test.step('a recovery code, once', async () => {
    await signInWith(` ${recovery[0]!.replace('-', ' ').toUpperCase()} `);
    await expect(factor).toContainText('8 recovery codes left');
    await signInWith(recovery[0]!);
    await expect(page.getByRole('alert')).toBeVisible();
    await field(page, 'Code').fill(recovery[1]!);
    await button(page, 'Sign In').click();
    await expect(factor).toContainText('7 recovery codes left');
  });

  await test.step('is not reset in User Management by the person whose it is', async () => {
    await goTo(page, `/users?search=${email}`);
    await chooseInMenu(rowOf(page, email), 'Sessions');
    const reset = button(page, 'Reset Second Factor');
    await expect(reset).toHaveAttribute('aria-disabled', 'true');
    await expect(reset).toHaveAttribute('title', 'Remove your own second factor on your account page.');
    await page.keyboard.press('Escape');
    await goTo(page, '/account');
  });

  await test.step('back to the password alone', async () => {
    await button(page, 'Remove').click();
    const remove = dialog(page, 'Remove second factor');
    const own = remove.getByRole('textbox', { name: 'Current Password' });
    await own.press('Enter');
    await expect(own).toHaveAccessibleDescription('Please enter your current password');
    await own.fill('not mine');
    await remove.getByRole('button', { name: 'Remove' }).click();
    await expect(own).toHaveAccessibleDescription('The current password is not right.');
    await expect(own).toBeFocused();
    await expectAccessible(page);
    await remove.getByRole('textbox', { name: 'Current Password' }).fill(password);
    await remove.getByRole('button', { name: 'Remove' }).click();
    await expectSaid(page, 'Second factor removed successfully');
    await expect(factor).toContainText('Not set up');
    await expect(page.locator('[data-notice]')).toContainText('add a second factor');
    await button(page, 'Logout').click();
    await signInByForm(page, email);
    await expect(factor).toContainText('You sign in with your password alone.');
  });
});

test('a second factor that was required is set up in all tabs at once', async ({ page, context, server }) => {
  const permissions: Permission[] = [{ resource: 'licenses', action: 'read' }];
  const currentPassword = server.printed.password;
  const { email, role } = await makeHolder(server.admin, permissions, currentPassword);
  const ask = async (requiresSecondFactor: boolean) => {
    const body = { description: 'Some', requiresSecondFactor, permissions, currentPassword };
    await server.admin.ok(rbac.updateRole, { params: { roleId: role }, body });
  };
  await ask(true);
  await page.goto('/licenses');
  await signInByForm(page, email);
  await goTo(page, '/account');
  const other = await context.newPage();
  await other.goto('/licenses');
  const required = (one: Page) =>
    one.locator('[data-notice]', {
      hasText: 'Your role requires a second factor. Nothing is permitted until you have set one up.',
    });
  for (const one of [page, other]) {
    await expect(required(one)).toBeVisible();
    await expect(links(one)).toHaveCount(0);
  }
  await expectAccessible(page);
  // nor is it required in one tab alone
  await ask(false);
  await other.reload();
  for (const one of [other, page]) await expect(required(one)).toHaveCount(0);
  await quiet(other);
  await ask(true);
  await other.reload();
  for (const one of [other, page]) await expect(required(one)).toBeVisible();
  await button(page, 'Set Up').click();
  const setUp = dialog(page, 'Set up a second factor');
  await setUp.getByRole('textbox', { name: 'Current Password' }).fill(password);
  await button(page, 'Continue').click();
  const link = setUp.getByRole('link', { name: 'open it in an app on this device' });
  const url = new URL((await link.getAttribute('href'))!);
  await field(page, 'Code').fill(codeOf(url.searchParams.get('secret')!));
  const free = await holdBack(page, `**${account.confirmSecondFactor.path}`);
  const confirming = page.waitForRequest(`**${account.confirmSecondFactor.path}`);
  await button(page, 'Confirm').click();
  await confirming;
  // its codes are never shown then, and nobody would know that there are some
  await page.goBack();
  await button(page, 'Discard').click();
  await expect(setUp).toBeHidden();
  free();
  await expect(page.getByLabel('Notifications')).toContainText('its recovery codes were not shown');
  for (const one of [page, other]) await expect(required(one)).toHaveCount(0);
  await expect(other.getByRole('heading', { name: 'License Management' })).toBeVisible();
});

test('one’s own sessions: ended one by one and all at once, on their next call', async ({
  page,
  otherPage,
  server,
}) => {
  // any call may be the next one, also of a notice that is loaded again
  expectStatus(otherPage, 401);
  const email = await makePerson(server);
  for (const one of [page, otherPage]) {
    await one.goto('/account');
    await signInByForm(one, email);
    await expect(sessions(one).first()).toBeVisible();
  }
  await page.reload();
  await expect(sessions(page)).toHaveCount(2);
  const own = rowOf(section(page, 'Sessions'), 'This session');
  await expect(own).toHaveCount(1);
  await expect(own).toContainText('127.0.0.1');
  await expect(own.getByRole('cell', { name: /^\d+ \w+ \d{4}, [\d:]+ \(just now\)$/ })).toHaveCount(2);
  await expect(own.getByRole('button', { name: 'End' })).toHaveAttribute('aria-disabled', 'true');
  await expectAccessible(page);

  const isSignedOut = async () => {
    await otherPage.goto('/customers');
    await expect(otherPage).toHaveURL('/login?redirect=%2Fcustomers');
  };
  await test.step('one', async () => {
    await sessions(page)
      .filter({ hasNotText: 'This session' })
      .getByRole('button', { name: 'End', exact: true })
      .press('Enter');
    await expectSaid(page, 'Session ended successfully');
    await expect(sessions(page)).toHaveCount(1);
    await expect(page.getByRole('region', { name: 'Open sessions' })).toBeFocused();
    await expect(button(page, 'End All Others')).toHaveCount(0);
    await isSignedOut();
  });

  await test.step('all others', async () => {
    await signInByForm(otherPage, email);
    await expect(otherPage).toHaveURL('/customers');
    await server.api().ok(session.login, { body: { email, password } });
    await page.reload();
    await expect(sessions(page)).toHaveCount(3);
    await button(page, 'End All Others').click();
    await expectSaid(page, 'Other sessions ended successfully');
    await expect(sessions(page)).toHaveCount(1);
    await expect(own).toHaveCount(1);
    await isSignedOut();
  });
});

test('a password that an administrator set: a row asks for one’s own, is put off, and goes when it is done', async ({
  page,
  server,
}) => {
  const email = await makePerson(server);
  const rowIn = (tab: Page) =>
    tab.locator('[data-notice]').filter({ hasText: 'Somebody else set your password' });
  const row = rowIn(page);
  const signInAgain = async (plain: string) => {
    await button(page, 'Logout').click();
    await signInByForm(page, email, plain);
  };
  await page.goto('/licenses');
  await signInByForm(page, email);
  await expect(row).toBeVisible();
  await expectAccessible(page);

  await test.step('Later: gone on every screen, until the next sign-in', async () => {
    await row.getByRole('button', { name: 'Later' }).click();
    await expect(row).toHaveCount(0);
    await goTo(page, '/customers');
    await expect(page.getByRole('heading', { name: 'Customers' })).toBeVisible();
    await expect(row).toHaveCount(0);
    await signInAgain(password);
    await expect(row).toBeVisible();
  });

  await test.step('it leads to the account page, where the password is changed', async () => {
    const other = await page.context().newPage();
    await other.goto('/customers');
    await expect(rowIn(other)).toBeVisible();
    await row.getByRole('link', { name: 'Account' }).click();
    await field(page, 'Current Password').fill(password);
    await field(page, 'New Password').fill('known to nobody else');
    const confirmed = field(page, 'Confirm Password');
    await confirmed.fill('known to nobody else');
    const answer = await holdBack(page, `**${account.changePassword.path}`);
    await confirmed.press('Enter');
    // what is typed by now would be no part of the password that was changed
    await expect(confirmed).not.toBeFocused();
    await page.keyboard.type('!');
    await expect(confirmed).toHaveValue('known to nobody else');
    answer();
    await expect(row).toHaveCount(0);
    await expect(rowIn(other)).toHaveCount(0);
    await other.close();
    await signInAgain('known to nobody else');
    await expect(section(page, 'Password')).toBeVisible();
    await expect(row).toHaveCount(0);
  });

  await test.step('an administrator sets another one: asked again', async () => {
    const [person] = await server.admin.ok(users.list, { query: { search: email } });
    const params = { id: person!.id };
    await server.admin.ok(users.resetPassword, {
      params,
      body: {
        newPassword: password,
        confirmPassword: password,
        currentPassword: server.printed.password,
      },
    });
    expectStatus(page, 401);
    await page.goto('/account');
    await signInByForm(page, email);
    await expect(row).toBeVisible();
  });

  await test.step('where the server requires it, the row cannot be put off', async () => {
    await page.route(`**${session.me.path}`, async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: object };
      const held = { ...data, permissions: [], advice: [], ownPasswordMissing: true };
      await route.fulfill({ response, json: { success: true, data: held } });
    });
    await page.reload();
    await expect(row).toContainText('Nothing is permitted until you have changed it.');
    await expect(row.getByRole('link', { name: 'Change it' })).toHaveAttribute('href', '/account');
    await expect(row.getByRole('button')).toHaveCount(0);
  });
});
