import { licenses } from '../../contract/licenses.ts';
import { every } from '../../web/live.ts';
import { makeCustomer, makeLicense, unique } from '../factories.ts';
import { loseAnswers } from './calls.ts';
import { holdBack } from './hold-back.ts';
import {
  goTo,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  quiet,
  seenOn,
  signInAs,
  test,
} from './support.ts';

test('the page of a license shows its machines, validity, validations and history, and changes it', async ({
  page,
  server,
}) => {
  const hostname = unique('PATH-WS').replace(' ', '-');
  const license = await makeLicense(server.admin);
  await seenOn(server, license, `id of ${hostname}`, { hostname });
  await signInAs(page, 'super_admin', `/licenses/${license.licenseId}`, server);
  await expect(
    page.getByRole('heading', { level: 1, name: `License ${license.licenseKey}`, exact: true }),
  ).toBeVisible();
  const validity = page.getByRole('region', { name: 'Validity' });
  await expect(validity).toContainText('1 Jan 2036');
  const results = page.getByRole('region', { name: 'Validations of the Last 30 Days', exact: true });
  await expect(results.getByRole('row', { name: 'Valid', exact: true })).toContainText(
    'The license is valid',
  );
  await expect(page.getByRole('region', { name: 'History' }).last()).toContainText('issued to');
  await expectAccessible(page);

  // neither the second click of a double click nor a held key extends it once more
  const extend = page.getByRole('button', { name: '+1 year' });
  await extend.click();
  await expect(validity).toContainText('1 Jan 2037');
  await extend.dispatchEvent('click', { detail: 2 });
  await extend.focus();
  await page.keyboard.down('Enter');
  await expect(validity).toContainText('1 Jan 2038');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await extend.click();
  await expect(validity).toContainText('1 Jan 2039');

  // an extension whose answer was lost is not said to be refused
  await loseAnswers(page, licenses.update);
  await extend.click();
  await expectSaid(
    page,
    /^The server cannot be reached\. Your change may have been applied\. Check before you try again\.[\w-]+ for /,
  );
  await expect(validity).toContainText('1 Jan 2040');

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await expect(dialog(page, 'Edit License')).toBeVisible();
  await expect(page).toHaveURL(/dialog=edit/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Issue Similar' }).click();
  await expect(dialog(page, 'Create License').getByRole('combobox', { name: 'Customer' })).toHaveValue(
    license.customer!.name,
  );
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await dialog(page, 'Revoke License').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByRole('button', { name: 'Reactivate', exact: true })).toBeVisible();
  await page
    .getByRole('region', { name: 'Machines of the license' })
    .getByRole('link', { name: hostname })
    .click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('license revoked');

  await goTo(page, `/audit?resourceId=${license.licenseId}`);
  const issued = page.getByRole('row').filter({ hasText: 'issued to' });
  await expect(issued.getByRole('link', { name: license.customer!.name })).toHaveAttribute(
    'href',
    `/customers/${license.customerId}`,
  );
  await issued.getByRole('link', { name: license.licenseKey }).click();
  await expect(page).toHaveURL(`/licenses/${license.licenseId}`);
  await expect(
    page.getByRole('heading', { level: 1, name: `License ${license.licenseKey}`, exact: true }),
  ).toBeVisible();

  const last = await makeLicense(server.admin, { validUntil: '9999-12-31T00:00:00Z' });
  await goTo(page, `/licenses/${last.licenseId}`);
  await extend.click();
  await expectSaid(page, 'ends on the latest date already');
});

test('a license that is transferred behind the question whether to revoke it is not revoked', async ({
  page,
  server,
}) => {
  expectStatus(page, 409);
  const license = await makeLicense(server.admin);
  const { customerId } = await makeCustomer(server.admin);
  await page.clock.install();
  await signInAs(page, 'super_admin', `/licenses/${license.licenseId}`, server);
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  const asking = dialog(page, 'Revoke License');
  await expect(asking).toBeVisible();
  await server.admin.ok(licenses.transfer, { params: { id: license.licenseId }, body: { customerId } });
  const asked = page.waitForResponse((answer) => answer.url().endsWith(`/licenses/${license.licenseId}`));
  await page.clock.fastForward(every);
  await asked;
  await quiet(page);
  await asking.getByRole('button', { name: 'Revoke' }).click();
  await expect(asking.getByRole('alert')).toHaveText(
    'This license was changed since you saw it. Look at it again.',
  );
  const now = await server.admin.ok(licenses.get, { params: { id: license.licenseId } });
  expect(now.status).toBe('active');
});

test('a license is revoked right after it was extended, also when that had no answer yet', async ({
  page,
  server,
}) => {
  const code = await holdBack(page, '**/ListDialogs-*.js');
  const asking = dialog(page, 'Revoke License');
  for (const isFirstDialog of [true, false]) {
    const license = await makeLicense(server.admin);
    await signInAs(page, 'super_admin', `/licenses/${license.licenseId}`, server);
    const answer = await holdBack(page, `**/api/v1/licenses/${license.licenseId}`, licenses.update.method);
    await page.getByRole('button', { name: '+30 days' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    // the code of the first dialog may come after the answer
    if (!isFirstDialog) await expect(asking).toBeVisible();
    answer();
    await expect(page.getByLabel('Notifications')).toContainText('extended to');
    code();
    await asking.getByRole('button', { name: 'Revoke' }).click();
    await expect(page.getByRole('button', { name: 'Reactivate', exact: true })).toBeVisible();
  }
});
