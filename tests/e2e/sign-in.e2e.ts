import { session } from '../../contract/session.ts';
import { holdBack } from './hold-back.ts';
import {
  expect,
  expectAccessible,
  expectStatus,
  heading,
  logged,
  signInByForm,
  sessionItems,
  test,
} from './support.ts';

const four = ['user', 'accessToken', 'permissions', 'roles'];

test('sign-in sends back to where the person was going', async ({ page, server }) => {
  const { email } = await server.person('viewer');
  expectStatus(page, 401);
  for (const path of ['/licenses', '/releases/trash', '/nowhere']) {
    await page.goto(path);
    await expect(page).toHaveURL(`/login?redirect=${encodeURIComponent(path)}`);
  }
  // longer than any other text in an address may be
  const left = `/customers?search=${'x'.repeat(190)}&country=DE&sort=-name`;
  await page.goto(left);
  await expect(page).toHaveURL(`/login?redirect=${encodeURIComponent(left)}`);
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expect(page.getByText(/^\d+\.\d+\.\d+ · build \d+ · \w+$/)).toBeVisible();

  const answer = await holdBack(page, `**${session.login.path}`);
  await signInByForm(page, email, 'not the password');
  const address = page.getByRole('textbox', { name: 'Email' });
  await address.click();
  answer();
  await expect(page.getByRole('alert')).toHaveText('Email or password is not right.');
  await expect(address).toBeFocused();
  expect(await sessionItems(page)).toEqual([]);
  await expectAccessible(page);

  // as pasted from a chat: the browser would refuse what nobody sees
  await address.fill('');
  await address.evaluate(
    (field, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    },
    `\u2060${email.replace('@', '\u0002@')}\u200b`,
  );
  await expect(address).toHaveValue(email);

  await signInByForm(page, email);
  await expect(page).toHaveURL(left);
  expect((await sessionItems(page)).toSorted()).toEqual(four.toSorted());
  await expect(page.getByRole('banner')).toContainText('Robin viewer');

  await expect(page.getByRole('link', { name: 'Lanyard' })).toHaveAttribute('href', '/');
  await page.goto('/');
  await expect(page).toHaveURL('/licenses');
  await page.goto('/login');
  await expect(page).toHaveURL('/licenses');
  // a link leads to no other place than this one
  for (const [target, to] of [
    ['//evil.example', '/licenses'],
    ['/customers/trash', '/customers/trash'],
  ] as const) {
    await page.goto(`/login?redirect=${encodeURIComponent(target)}`);
    await expect(page).toHaveURL(to);
  }
});

test('a call that cannot be made and one without a sentence fall back to the words of the console', async ({
  page,
}) => {
  expectStatus(page, 'aborted', 418, 429);
  const warnings = logged(page, 'Login');
  await page.goto('/login');
  await page.route(`**${session.login.path}`, (route) => route.abort(), { times: 1 });
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText(
    'Login failed. The server cannot be reached. Check the connection and try again.',
  );
  await page.route(`**${session.login.path}`, (route) => route.fulfill({ status: 418, body: '{}' }));
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText('Login failed');
  const json = { success: false, error: 'Sign-in is closed today.' };
  await page.route(`**${session.login.path}`, (route) => route.fulfill({ status: 200, json }));
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText('Sign-in is closed today.');
  const throttled = { success: false, error: 'Wait a few minutes.', code: 'TOO_MANY_REQUESTS' };
  await page.route(`**${session.login.path}`, (route) => route.fulfill({ status: 429, json: throttled }));
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText('Wait a few minutes.');
  expect(await sessionItems(page)).toEqual([]);
  expect(warnings).toEqual(Array(4).fill('Login failed'));
});
