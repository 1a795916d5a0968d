import { noPolicy, policies } from '../../contract/policies.ts';
import { displayIdOf, machineHashOf } from '../../server/features/update-events/index.ts';
import { makeCustomer, makeLicense, unique, validateOn } from '../factories.ts';
import { makeRelease, report } from './releases.ts';
import { dialog, expect, expectAccessible, rowOf, signInAs, test } from './support.ts';

test('a policy says beforehand what it changes, is saved, and explains itself on the page of the machine', async ({
  page,
  server,
}) => {
  // no other test publishes for Windows on ARM
  const lane = { platform: 'win32', architecture: 'arm64' } as const;
  for (const version of ['74.2.1', '74.2.2', '75.0.0']) await makeRelease(server, { ...lane, version });
  const customer = await makeCustomer(server.admin, { name: unique('Pinned Hospital') });
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  const machineId = unique('machine').replace(' ', '-');
  await validateOn(server.admin, license, machineId);
  await report(server, [
    { machineId, ...lane, eventType: 'check', channel: 'stable', fromVersion: '74.2.1' },
  ]);

  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(customer.name)}`, server);
  await rowOf(page, customer.name).getByRole('button', { name: 'Updates' }).click();
  const form = dialog(page, 'Update Policy');
  const impact = form.getByRole('status');
  await expect(impact).toContainText('would be offered something else from now on.');
  await form.getByLabel('Pinned Version').fill('4');
  await form.getByRole('button', { name: 'Save Policy' }).click();
  await expect(form.getByText('Must be a version, or begin one: 4. or 4.2. or 4.2.1')).toBeVisible();
  await form.getByLabel('Pinned Version').fill('74.2.');
  await form.getByLabel('Tags').fill('Clinics');
  await form.getByRole('combobox', { name: 'Maintenance Windows' }).click();
  await page.getByRole('option', { name: 'Only in these windows' }).click();
  await expect(form.getByRole('group', { name: 'Window 1' })).toBeVisible();
  await form.getByRole('combobox', { name: 'Maintenance Windows' }).click();
  await page.getByRole('option', { name: 'Not set' }).click();
  await expect(impact).toHaveText('1 of 1 machine would be offered something else from now on.');
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Save Policy' }).click();
  await expect(page.getByText('Update policy saved')).toBeVisible();
  const saved = { params: { id: customer.customerId } };
  expect(await server.admin.ok(policies.getOfCustomer, saved)).toMatchObject({
    ...noPolicy,
    pin: '74.2.',
    tags: ['clinics'],
  });

  await rowOf(page, customer.name).getByRole('button', { name: 'Updates' }).click();
  await form.getByRole('button', { name: 'Policy of clinics' }).click();
  const tag = dialog(page, 'Update Policy of a Tag');
  await expect(tag).toContainText('For 1 customer with this tag.');
  await tag.getByLabel('Deferral').fill('14');
  await tag.getByRole('button', { name: 'Save Policy' }).click();
  await expect(tag).toBeHidden();

  await page.goto(`${server.url}/machines/${displayIdOf(machineHashOf(machineId))}`);
  await expect(page.getByRole('row', { name: '75.0.0' })).toContainText(`Pinned version`);
  await expect(page.getByRole('row', { name: '75.0.0' })).toContainText(
    `The policy of ${customer.name} pins it to 74.2.`,
  );
  const deferred = rowOf(page, '74.2.2');
  await expect(deferred).toContainText('Deferred');
  await expect(deferred).toContainText('The policy of the tag clinics defers releases by 14 days');
  await expect(deferred).toContainText(`pins it to 74.2., which this release matches.`);

  await test.step('who rolls out releases reaches the tag on a screen of its own', async () => {
    await signInAs(page, 'binary_manager', '/releases', server);
    await page.getByRole('link', { name: 'Update Policies' }).click();
    await expect(rowOf(page, 'clinics')).toContainText('Deferred by 14 days');
    await expectAccessible(page);
    await rowOf(page, 'clinics').getByRole('button', { name: 'Edit' }).click();
    await expect(tag).toContainText('For 1 customer with this tag.');
    await tag.getByLabel('Deferral').fill('21');
    await tag.getByRole('button', { name: 'Save Policy' }).click();
    await expect(rowOf(page, 'clinics')).toContainText('Deferred by 21 days');
    await page.getByPlaceholder('Search tags...').fill('no such');
    await expect(page.getByRole('heading', { name: 'No tags' })).toBeVisible();
  });
});
