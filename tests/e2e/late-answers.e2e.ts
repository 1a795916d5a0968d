import type { Locator } from '@playwright/test';
import { apiKeys } from '../../contract/api-keys.ts';
import { audit } from '../../contract/audit.ts';
import { customers } from '../../contract/customers.ts';
import { imports } from '../../contract/imports.ts';
import { bulkLicenses } from '../../contract/license-bulk.ts';
import { licenses } from '../../contract/licenses.ts';
import { offline } from '../../contract/offline.ts';
import { releases } from '../../contract/releases.ts';
import type { Route } from '../../contract/route.ts';
import { rbac } from '../../contract/users.ts';
import { views } from '../../contract/views.ts';
import { toastDuration } from '../../web/ui/toast.tsx';
import { makeApiKey, makeCustomer, makeLicense, softDelete, unique } from '../factories.ts';
import { offlineMachine } from '../offline-machine.ts';
import { loseAnswers, patternOf } from './calls.ts';
import { holdBack } from './hold-back.ts';
import { makeRelease } from './releases.ts';
import { row } from './releases-screen.ts';
import {
  button,
  chooseInMenu,
  dialog,
  expect,
  expectNoMoreFailures,
  expectSaid,
  expectStatus,
  goTo,
  heading,
  inDays,
  prolong,
  quiet,
  rowOf,
  signInAs,
  test,
  type Page,
} from './support.ts';

// What happens while a call of the user has no answer yet.

/** Keeps this call waiting: `begun` when the page makes it, until `answer` is called. */
async function hold(page: Page, { method, path }: Route) {
  const isCalled = (url: URL) => patternOf(path).test(url.pathname);
  const begun = page.waitForRequest((one) => one.method() === method && isCalled(new URL(one.url())));
  return { begun, answer: await holdBack(page, isCalled, method) };
}

const leaves = (page: Page) => page.getByRole('link', { name: 'Audit Log', exact: true });

test('the form of a customer, and what is typed in it, while its answer is late', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('a form takes no input while it is sent, and if that fails its field has the focus again', async () => {
    expectStatus(page, 500);
    await goTo(page, '/customers?dialog=create');
    const form = dialog(page, 'Add Customer');
    const name = form.getByRole('textbox', { name: 'Company Name' });
    const country = form.getByRole('combobox', { name: 'Country' });
    await country.click();
    await page.getByRole('option', { name: 'Germany' }).click();
    await name.fill('Typed before');
    await page.route(`**${customers.create.path}`, (route) => route.fulfill({ status: 500, json: {} }));
    const sending = await hold(page, customers.create);
    await name.press('Enter');
    await sending.begun;
    await page.keyboard.type(' and after');
    await expect(name).toHaveValue('Typed before');
    await expect(page.getByText('Waiting for the server…')).toBeAttached();
    // reduced motion drops the transition that would place it
    const offset = await form.locator('button[data-loading]').evaluate((sent) => {
      const [whole, spinner] = [sent, sent.firstElementChild!].map((part) => part.getBoundingClientRect());
      return spinner!.x + spinner!.width / 2 - whole!.x - whole!.width / 2;
    });
    expect(Math.abs(offset), 'the spinner is in the middle of its button').toBeLessThan(2);
    sending.answer();
    await expect(form.getByRole('alert')).toBeVisible();
    await expect(name).toBeFocused();
    // one with choices as well, without showing them: the next Enter sends again
    for (let time = 0; time < 2; time++) {
      const refused = page.waitForResponse(`**${customers.create.path}`);
      await country.press('Enter');
      await refused;
      await expect(country).toBeFocused();
      await expect(page.getByRole('listbox')).toHaveCount(0);
    }
    await page.unroute(`**${customers.create.path}`);
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();
    // the next step opens the same address
    await expect(form).toBeHidden();
    await expectNoMoreFailures(page);
  });

  await test.step('a late answer closes its own dialog alone, and opens no screen that was left', async () => {
    const family = unique('Late Hospital');
    const make = (name: string) => makeCustomer(server.admin, { name: `${family} ${name}` });
    const [one, other] = [await make('A'), await make('B')];
    const phone = dialog(page, 'Edit Customer').getByRole('textbox', { name: 'Phone' });
    const question = dialog(page, 'Discard changes?');
    await goTo(page, `/customers?search=${family}&edit=${one.customerId}`);
    let saving = await hold(page, customers.update);
    await phone.fill('1');
    await button(page, 'Update Customer').click();
    await saving.begun;
    await page.keyboard.press('Escape');
    await expect(question).toContainText('What you sent may be saved.');
    await button(page, 'Discard').click();
    await rowOf(page, other.name).getByRole('button', { name: 'Edit' }).click();
    await phone.fill('2');
    saving.answer();
    await expectSaid(page, 'Customer updated successfully');
    await expect(phone).toHaveValue('2');

    saving = await hold(page, customers.update);
    await button(page, 'Update Customer').click();
    await saving.begun;
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();
    await leaves(page).click();
    await expect(heading(page, 'Audit Log')).toBeVisible();
    const saved = page.waitForResponse((answer) => answer.request().method() === customers.update.method);
    saving.answer();
    await saved;
    await expectSaid(page, `Customer updated successfully${other.name}`);
    await expect(heading(page, 'Audit Log')).toBeVisible();
  });
});

test('a license, while its answer is late', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('keys that are pressed while a form is saved are no shortcuts', async () => {
    const license = await makeLicense(server.admin, { validUntil: '2032-02-29T17:30:00Z' });
    await goTo(page, `/licenses?customer=${license.customerId}`);
    await chooseInMenu(rowOf(page, license.licenseKey), '+1 year');
    await expect(button(page, 'Undo')).toBeVisible();
    await goTo(page, `/licenses/new?customer=${license.customerId}`);
    const seats = page.getByRole('textbox', { name: 'Max Activations' });
    const sending = await hold(page, licenses.create);
    await seats.fill('7');
    await seats.press('Enter');
    await sending.begun;
    await expect(seats).not.toBeFocused();
    // whoever sees that it should be another number
    await page.keyboard.press('Control+z');
    await page.keyboard.press('?');
    sending.answer();
    await expect(page.getByText('License created for')).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const { validUntil } = await server.admin.ok(licenses.get, { params: { id: license.licenseId } });
    expect(validUntil).toMatch(/^2033/);
  });

  await test.step('a late revocation leaves the dialog of another license open', async () => {
    const name = unique('Late Clinic');
    const { customerId } = await makeCustomer(server.admin, { name });
    const [one, other] = [
      await makeLicense(server.admin, { customerId }),
      await makeLicense(server.admin, { customerId }),
    ];
    await goTo(page, `/licenses?search=${encodeURIComponent(name)}`);
    const revoking = await hold(page, licenses.revoke);
    await rowOf(page, one.licenseKey).getByRole('button', { name: 'Revoke' }).click();
    await dialog(page, 'Revoke License').getByRole('button', { name: 'Revoke' }).click();
    await revoking.begun;
    await page.keyboard.press('Escape');
    await chooseInMenu(rowOf(page, other.licenseKey), 'Transfer');
    await expect(dialog(page, 'Transfer License')).toBeVisible();
    revoking.answer();
    await expect(page.getByText(`License ${one.licenseKey} for ${name} revoked`)).toBeVisible();
    await expect(dialog(page, 'Transfer License')).toBeVisible();
    await page.keyboard.press('Escape');
  });
});

test('links, the palette and the log, while an answer is late', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('a link that is pressed right after typing leads where it says', async () => {
    await goTo(page, '/customers?search=north');
    const search = page.getByRole('searchbox', { name: 'Search customers' });
    await search.focus();
    await search.press('End');
    await page.keyboard.type('ern');
    // in the same task as the key: before any search that is typed is asked for
    await page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      document.querySelector<HTMLElement>('nav a[href="/customers"]')!.click();
    });
    await expect(search).toHaveValue('');
    await quiet(page);
    await expect(page).toHaveURL('/customers');
    // the way back with the keyboard leaves the focus where it is
    await search.focus();
    await page.keyboard.type('ern');
    await page.evaluate(() => history.back());
    await expect(search).not.toHaveValue(/^(ern)?$/);
    const before = page.url();
    await quiet(page);
    await expect(search).not.toHaveValue('ern');
    expect(page.url()).toBe(before);
  });

  await test.step('Enter in the palette opens no result for what was typed before', async () => {
    const [before, now] = [unique('Zephyr'), unique('Quorum')];
    for (const name of [before, now]) await makeCustomer(server.admin, { name });
    await goTo(page, '/licenses');
    await expect(heading(page, 'License Management')).toBeVisible();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Type a command or search' });
    const found = (name: string) => page.getByRole('option', { name: new RegExp(`^${name}`) });
    await field.fill(before);
    await expect(found(before)).toBeVisible();
    const searching = await hold(page, customers.list);
    await field.fill(now);
    await field.press('Enter');
    await searching.begun;
    await field.press('Enter');
    await expect(field).toBeVisible();
    searching.answer();
    await expect(heading(page, now)).toBeVisible();
  });

  await test.step('the verification of the audit log takes no focus from what is typed by then', async () => {
    await goTo(page, '/audit');
    const verifying = await hold(page, audit.verify);
    await button(page, 'Verify').click();
    await verifying.begun;
    const field = page.getByPlaceholder('Search audit logs...');
    await field.pressSequentially('lic');
    verifying.answer();
    await expect(page.getByText('The chain is whole')).toBeVisible();
    await page.keyboard.type('ense');
    await expect(field).toHaveValue('license');
  });
});

test('what became of a change whose dialog was left is said, or nobody would know', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/licenses?dialog=import', server);
  const said = page.getByLabel('Notifications');
  /** Sends what the dialog asks for, leaves it with its input, and lets the answer come. */
  const leave = async (
    modal: Locator,
    call: Route,
    send: string,
    how: () => Promise<unknown> = () => page.keyboard.press('Escape'),
  ) => {
    const { begun, answer } = await hold(page, call);
    await modal.getByRole('button', { name: send }).click();
    await begun;
    await how();
    await button(page, 'Discard').click();
    await expect(modal).toBeHidden();
    answer();
  };
  const { name, customerId } = await makeCustomer(server.admin);

  await test.step('licenses that are imported, or they would be issued again', async () => {
    const modal = dialog(page, 'Import Licenses');
    await modal.getByRole('textbox', { name: 'CSV' }).fill(`Customer\n${name}\n${name}`);
    await leave(modal, imports.licenses, 'Issue 2 licenses');
    await expectSaid(page, '2 licenses issued');
  });

  await test.step('a license that is created, for the same reason', async () => {
    await goTo(page, `/licenses/new?customer=${customerId}`);
    const creating = await hold(page, licenses.create);
    await button(page, 'Create License').click();
    await creating.begun;
    await leaves(page).click();
    await expect(heading(page, 'Audit Log')).toBeVisible();
    creating.answer();
    await expectSaid(page, `for ${name} created`);
  });

  await test.step('customers that are deleted, with Undo', async () => {
    expectStatus(page, 409);
    const family = unique('Left Hospital');
    const [one, gone] = [
      await makeCustomer(server.admin, { name: `${family} A` }),
      await makeCustomer(server.admin, { name: `${family} B` }),
    ];
    await goTo(page, `/customers?search=${family}`);
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await button(page, 'Delete Selected').click();
    await softDelete(server.admin, gone);
    const deleting = await hold(page, customers.softDelete);
    await dialog(page, 'Delete Customers').getByRole('button', { name: 'Confirm' }).click();
    await deleting.begun;
    await page.goBack();
    await expect(heading(page, 'Audit Log')).toBeVisible();
    deleting.answer();
    const deleted = said.getByRole('alert').filter({ hasText: `Customer "${one.name}" deleted` });
    await expect(deleted).toContainText(`Not deleted: ${gone.name}.`);
    await deleted.getByRole('button', { name: 'Undo' }).click();
    await expectSaid(page, `Customer "${one.name}" restored`);
  });

  await test.step('an API key, since nobody has it', async () => {
    const key = unique('Unseen');
    await goTo(page, '/api-keys');
    // an empty list has one too
    await button(page, 'Create API Key').first().click();
    const form = dialog(page, 'Create API Key');
    await form.getByRole('textbox', { name: 'Name' }).fill(key);
    await form.getByRole('textbox', { name: 'Expiration Date' }).fill(inDays(1).slice(0, 16));
    await leave(form, apiKeys.create, 'Create API Key', () => page.goBack());
    await expect(said).toContainText(`API key "${key}" was created, but not shown.`);
  });

  await test.step('a license file, since it holds a seat', async () => {
    const license = await makeLicense(server.admin);
    const machine = offlineMachine(unique('ws'));
    await goTo(page, `/licenses?activations=${license.licenseKey}`);
    await button(page, 'Offline Activation').click();
    const form = dialog(page, 'Offline Activation');
    await form.getByRole('textbox', { name: 'Request' }).fill(machine.request(license));
    await leave(form, offline.issue, 'Create License File', () => page.goBack());
    await expect(said).toContainText(`A license file for ${machine.machineId} was made, but not shown.`);
  });

  await test.step('licenses that are changed, one of which is not', async () => {
    const changed = await makeLicense(server.admin);
    await makeLicense(server.admin, { customerId: changed.customerId });
    await goTo(page, `/licenses?customer=${changed.customerId}`);
    await expect(rowOf(page, changed.licenseKey)).toBeVisible();
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await button(page, 'Revoke…').click();
    const modal = dialog(page, 'Revoke Licenses');
    await expect(modal.getByRole('button', { name: 'Revoke 2 licenses' })).toBeEnabled();
    // after the preview
    const params = { id: changed.licenseId };
    await server.admin.ok(licenses.update, { params, body: { maxActivations: 7 } });
    // what is sent again is known by the service, or both would be refused as changed meanwhile
    await loseAnswers(page, bulkLicenses.change);
    await leave(modal, bulkLicenses.change, 'Revoke 2 licenses');
    await expect(
      said.getByRole('alert').filter({ hasText: '1 license revoked. 1 license could not be revoked.' }),
    ).toBeVisible();
  });

  await test.step('a release that is withdrawn', async () => {
    const release = await makeRelease(server);
    await goTo(page, `/releases?search=${release.version}`);
    await chooseInMenu(row(page, release), 'Withdraw');
    const question = dialog(page, 'Withdraw Release');
    await question.getByRole('textbox', { name: 'Reason' }).fill('It crashes');
    await leave(question, releases.withdraw, 'Withdraw');
    await expectSaid(page, `Version ${release.version} (stable) for Windows (x64) withdrawn`);
  });
});

test('roles and views, while an answer is late', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('a role takes no input while it is saved', async () => {
    const role = { roleId: `saved_${Date.now()}`, description: 'for one test', copyFrom: 'viewer' };
    await server.admin.ok(rbac.createRole, { body: role });
    await goTo(page, `/users?tab=roles&role=${role.roleId}`);
    const cell = (name: string) => page.getByRole('checkbox', { name, exact: true });
    await cell('Audit: export').check();
    const saving = await hold(page, rbac.updateRole);
    await button(page, 'Save Changes').click();
    await saving.begun;
    const { x, y } = (await cell('Customers: update').boundingBox())!;
    await page.mouse.click(x + 5, y + 5);
    await expect(cell('Customers: update')).not.toBeChecked();
    saving.answer();
    await expectSaid(page, 'Role updated successfully');
  });

  await test.step('a role that is created or deleted late leaves the role that is shown', async () => {
    const roleId = `late_${Date.now()}`;
    await goTo(page, '/users?tab=roles&role=viewer');
    const creating = await hold(page, rbac.createRole);
    await button(page, 'New Role').click();
    const made = dialog(page, 'New Role');
    await made.getByRole('textbox', { name: 'Name' }).fill(roleId);
    await made.getByRole('textbox', { name: 'Description' }).fill('for one test');
    await button(page, 'Create Role').click();
    await creating.begun;
    await page.keyboard.press('Escape');
    await dialog(page, 'Discard changes?').getByRole('button', { name: 'Discard' }).click();
    creating.answer();
    await expectSaid(page, 'Role created successfully');
    await expect(page).toHaveURL('/users?tab=roles&role=viewer');

    const roles = page.getByRole('navigation', { name: 'Roles' });
    await page.goto(`/users?tab=roles&role=${roleId}`);
    const deleting = await hold(page, rbac.deleteRole);
    await button(page, 'Delete').click();
    await dialog(page, 'Delete Role').getByRole('button', { name: 'Delete' }).click();
    await deleting.begun;
    await page.keyboard.press('Escape');
    await roles.getByRole('button', { name: /^Support Agent/ }).click();
    deleting.answer();
    await expectSaid(page, 'Role deleted successfully');
    await expect(page).toHaveURL('/users?tab=roles&role=support_agent');
  });

  await test.step('a view that is saved or deleted late is not opened over what is shown by then', async () => {
    const name = unique('Late');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const leaveFor = async (answer: () => void, said: string) => {
      await leaves(page).click();
      await expect(heading(page, 'Audit Log')).toBeVisible();
      answer();
      await expectSaid(page, said);
      await expect(page).toHaveURL('/audit');
    };
    await goTo(page, '/licenses?seats=full');
    await choose('Save as new view…');
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    const saving = await hold(page, views.create);
    await button(page, 'Save View').click();
    await saving.begun;
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();
    await leaveFor(saving.answer, `View ${name} saved`);

    await goTo(page, '/licenses?seats=full');
    await choose(name);
    await expect(page).toHaveURL(/view=/);
    const deleting = await hold(page, views.delete);
    await choose('Delete view');
    await deleting.begun;
    await leaveFor(deleting.answer, `View ${name} deleted`);
    await button(page, 'Undo').click();
    await expectSaid(page, `View ${name} restored`);
    await expect(page).toHaveURL('/audit');
  });
});

test('whether to revoke an API key is not asked on another screen, nor over a dialog', async ({
  page,
  server,
}) => {
  const [asked, opened] = [await makeApiKey(server.admin), await makeApiKey(server.admin)];
  const questions: string[] = [];
  page.on('dialog', (one) => {
    questions.push(one.message());
    void one.dismiss();
  });
  const ways = [
    () => rowOf(page, opened.name).getByRole('button', { name: 'View' }).click(),
    () => leaves(page).click(),
  ];
  await signInAs(page, 'super_admin', '/api-keys', server);
  for (const leave of ways) {
    const counting = await hold(page, apiKeys.impact);
    await rowOf(page, asked.name).getByRole('button', { name: 'Revoke' }).click();
    await counting.begun;
    await leave();
    await expect(dialog(page, 'API Key Details').or(heading(page, 'Audit Log'))).toBeVisible();
    counting.answer();
    await quiet(page);
    await page.keyboard.press('Escape');
  }
  expect(questions).toEqual([]);
});

test('a message of a late answer leads to another tab, where a form with input is open', async ({
  page,
  context,
  server,
}) => {
  const [first, second] = [await makeApiKey(server.admin), await makeApiKey(server.admin)];
  await prolong(page, toastDuration, 45_000);
  await signInAs(page, 'super_admin', '/api-keys', server);
  const revocation = await hold(page, apiKeys.revoke);
  page.once('dialog', (question) => void question.accept());
  await rowOf(page, first.keyPrefix).getByRole('button', { name: 'Revoke' }).click();
  await revocation.begun;
  await rowOf(page, second.keyPrefix).getByRole('button', { name: 'Edit' }).click();
  const name = dialog(page, 'Edit API Key').getByRole('textbox', { name: 'Name' });
  await name.fill('Typed for long');
  const opened = context.waitForEvent('page');
  revocation.answer();
  await page.getByLabel('Notifications').getByRole('link', { name: first.name, exact: true }).click();
  await expect(dialog(await opened, 'API Key Details')).toContainText(first.keyPrefix);
  await expect(name).toHaveValue('Typed for long');
});
