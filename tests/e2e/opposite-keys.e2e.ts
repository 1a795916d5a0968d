import { users } from '../../contract/users.ts';
import { makeLicense, revoke } from '../factories.ts';
import { address, makeUser } from './users-screen.ts';
import { dialog, expect, goTo, rowOf, signInAs, test } from './support.ts';

test('the key of Revoke and Deactivate, and Enter, reactivate nothing that a colleague was faster with', async ({
  page,
  server,
}) => {
  const license = await makeLicense(server.admin);
  await revoke(server.admin, license);
  const user = await makeUser(server, 'viewer', address());
  await server.admin.ok(users.deactivate, { params: { id: user.id } });
  await signInAs(page, 'super_admin', '/today', server);
  const presses = async (path: string, name: string, key: string, title: string) => {
    await goTo(page, path);
    await rowOf(page, name).first().focus();
    await page.keyboard.press(key);
    const question = dialog(page, title);
    await expect(question.locator('[data-autofocus]')).toBeFocused();
    await page.keyboard.press('Enter');
    await question.getByRole('button', { name: 'Cancel' }).click();
  };
  await presses(`/customers/${license.customerId}`, license.licenseKey, 'r', 'Reactivate License');
  await presses(`/users?search=${user.email}`, user.email, 'a', 'Reactivate User');
  await expect(rowOf(page, user.email)).toContainText('Inactive');
  await goTo(page, `/licenses/${license.licenseId}`);
  await expect(page.getByRole('button', { name: 'Reactivate', exact: true })).toBeVisible();
});
