import { makeCustomer, unique } from '../factories.ts';
import { dialog, expect, expectAccessible, signInAs, test } from './support.ts';

test('neither Enter nor Tab chooses one of several names that differ in case, or makes another', async ({
  page,
  server,
}) => {
  const family = unique('Twin');
  const [one, other] = [`${family} Hospital`, `${family} HOSPITAL`];
  const { customerId } = await makeCustomer(server.admin, { name: one, country: 'IE' });
  await makeCustomer(server.admin, { name: other, country: 'IE' });
  await signInAs(page, 'super_admin', '/licenses?dialog=create', server);
  const form = dialog(page, 'Create License');
  const customer = form.getByRole('combobox', { name: 'Customer' });
  const option = page.getByRole('option', { name: `${one} · Ireland · ${customerId.slice(-12)}` });
  for (const [typed, key] of [
    [one, 'Tab'],
    [other, 'Enter'],
    [`${family} Hosp`, 'Enter'],
  ] as const) {
    await customer.fill(typed);
    await expect(option).toBeVisible();
    await customer.press(key);
    await expect(customer).toHaveAccessibleDescription('Several have this name: choose one');
    await expect(customer).toHaveValue(typed);
    await expect(dialog(page, 'Add Customer')).toBeHidden();
  }
  await expectAccessible(page);
});
