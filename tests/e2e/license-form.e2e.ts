import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { modules } from '../../contract/modules.ts';
import { makeCustomer, makeLicense, revoke, unique } from '../factories.ts';
import { loseAnswers } from './calls.ts';
import {
  button,
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectNoMoreFailures,
  expectSaid,
  expectStatus,
  goTo,
  signInAs,
  test,
} from './support.ts';
import { of, only, row, tab } from './licenses-screen.ts';

test('the license modal: fields, module categories, dates, required texts', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Modal owner') });
  await page.clock.setFixedTime('2027-02-10T09:30:00Z');
  await signInAs(page, 'super_admin', only(customer), server);
  await button(page, 'Create License').first().click();
  const modal = dialog(page, 'Create License');
  const field = (name: string) => modal.getByRole('textbox', { name });
  await expect(modal.getByRole('combobox', { name: 'Customer' })).toBeVisible();
  await expect(modal.getByRole('combobox', { name: 'License Type' })).toHaveValue('Trial');
  await expect(field('Max Activations')).toHaveValue('1');
  await expect(field('Valid From')).toHaveValue('10 Feb 2027');
  await expect(field('Valid Until')).toHaveValue('12 Mar 2027');
  const categories = modal.getByRole('group', { name: 'Modules' }).getByRole('group');
  await expect(categories).toHaveCount(5);
  expect(await categories.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
    'Oncology',
    'Chronic Diseases',
    'Other',
    'Pathology',
    'Radiology',
  ]);

  await test.step('type and first day set the last day', async () => {
    await modal.getByRole('combobox', { name: 'License Type' }).click();
    await modal.getByRole('option', { name: 'Enterprise' }).click();
    await expect(field('Valid Until')).toHaveValue('10 Feb 2028');
    await field('Valid From').fill('29 Feb 2028');
    await field('Valid From').press('Tab');
    await expect(field('Valid Until')).toHaveValue('28 Feb 2029');
    await field('Valid Until').fill('1 Jan 2030');
    await field('Valid Until').press('Tab');
    await field('Max Activations').fill('2');
    await expect(field('Valid Until')).toHaveValue('1 Jan 2030');
    await modal.getByRole('combobox', { name: 'License Type' }).click();
    await modal.getByRole('option', { name: 'Trial' }).click();
    await expect(field('Valid Until')).toHaveValue('30 Mar 2028');
  });

  await test.step('the calendar goes by keyboard, and Escape closes it alone', async () => {
    await field('Valid From').press('ArrowDown');
    const calendar = modal.getByRole('dialog', { name: 'Calendar of Valid From' });
    await expect(calendar).toBeVisible();
    await expect.poll(() => calendar.evaluate((box) => box.contains(document.activeElement))).toBe(true);
    await page.keyboard.press('Escape');
    await expect(calendar).toBeHidden();
    await expect(modal).toBeVisible();
    // with motion, the calendar is still there for a moment after a choice
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await modal.getByRole('button', { name: 'Choose Valid From in a calendar' }).click();
    await calendar.getByRole('button', { name: '28 February 2028' }).click();
    await expect(calendar).toBeHidden();
    await expect(modal.getByRole('button', { name: 'Choose Valid From in a calendar' })).toBeFocused();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expect(field('Valid From')).toHaveValue('28 Feb 2028');
    await expect(field('Valid Until')).toHaveValue('29 Mar 2028');
  });

  await test.step('what is required', async () => {
    const posts: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
    const send = () => modal.getByRole('button', { name: 'Create License' }).click();
    await field('Max Activations').fill(' ');
    await send();
    await expect(modal.getByText('Customer is required')).toBeVisible();
    await expect(modal.getByText('Max activations is required')).toBeVisible();
    await field('Max Activations').pressSequentially('1.5');
    await send();
    await expect(modal.getByText('Must be a whole number')).toBeVisible();
    await expect(field('Max Activations')).toHaveValue('1.5');
    await field('Max Activations').fill('0');
    await send();
    await expect(modal.getByText('Must be at least 1')).toBeVisible();
    await field('Valid Until').fill('');
    await field('Valid Until').pressSequentially('31 Feb 2027');
    await page.keyboard.press('Enter');
    await expect(modal.getByText('There is no such day')).toBeVisible();
    await expect(field('Valid Until')).toHaveValue('31 Feb 2027');
    await field('Valid Until').fill('31.12.2026');
    await field('Valid Until').press('Tab');
    await expect(field('Valid Until')).toHaveValue('31 Dec 2026');
    await field('Valid Until').fill('1 Jan 2020');
    await field('Valid Until').press('Tab');
    await send();
    await expect(modal.getByText('Must be after Valid From')).toBeVisible();
    await expectAccessible(page);
    expect(posts).toEqual([]);
  });

  await test.step('what is sent', async () => {
    await modal.getByRole('combobox', { name: 'Customer' }).fill(customer.name);
    await modal.getByRole('option', { name: customer.name, exact: true }).click();
    await field('Valid Until').fill('1 Apr 2028');
    await field('Valid Until').press('Tab');
    await field('Max Activations').fill('');
    // formatted on blur only: a separator inserted while typing would turn the next digit into `12,000`
    await field('Max Activations').pressSequentially('12000');
    await expect(field('Max Activations')).toHaveValue('12000');
    await page.keyboard.press('Tab');
    await expect(field('Max Activations')).toHaveValue('12,000');
    await modal.getByRole('searchbox', { name: 'Search modules' }).fill('colorectal');
    await expect(categories).toHaveCount(1);
    await modal.getByRole('checkbox', { name: 'Select all shown in Oncology' }).check();
    await expect(categories).toContainText('1/1 shown');
    const counted = modal.locator('[aria-live="polite"]', { hasText: /result/ });
    await expect(counted).toHaveText('1 result');
    await modal.getByRole('searchbox', { name: 'Search modules' }).fill('no such module');
    await expect(counted).toHaveText('No results');
    await modal.getByRole('searchbox', { name: 'Search modules' }).fill('');
    await expect(counted).toHaveCount(0);
    await modal.getByRole('checkbox', { name: 'Select all Pathology' }).check();
    await expect(modal.getByText('4 selected')).toBeVisible();
    const request = page.waitForRequest((one) => one.method() === 'POST');
    await modal.getByRole('button', { name: 'Create License' }).click();
    expect((await request).postDataJSON()).toEqual({
      customerId: customer.customerId,
      type: 'trial',
      validFrom: '2028-02-28T00:00:00.000Z',
      validUntil: '2028-04-01T00:00:00.000Z',
      maxActivations: 12_000,
      moduleIds: ['mod_colorectal_cancer', 'mod_cytology', 'mod_histology', 'mod_immunohistochemistry'],
    });
    await expect(modal).toContainText(`License created for ${customer.name}: Trial, valid until 1 Apr 2028.`);
    await expectAccessible(page);
    await modal.getByRole('button', { name: 'Done' }).click();
  });
});

test('the license modal edits, shows, and says when someone else was quicker', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, of(customer));
  const revoked = await makeLicense(server.admin, of(customer));
  await revoke(server.admin, revoked);
  await signInAs(page, 'super_admin', only(customer), server);
  await row(page, license).getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit License');
  await expect(page).toHaveURL(`${only(customer)}&edit=${license.licenseId}`);
  await expect(edit).toContainText(license.licenseKey);
  await expect(edit.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  await expect(edit.getByRole('combobox', { name: 'License Type' })).toHaveValue('Enterprise');
  await expect(edit.getByRole('checkbox', { name: 'Lung Nodule' })).toBeChecked();
  await expect(edit.getByRole('textbox', { name: 'Valid Until' })).toHaveValue('1 Jan 2036');

  await server.admin.ok(licenses.update, {
    params: { id: license.licenseId },
    body: { maxActivations: 9, moduleIds: ['mod_copd'] },
  });
  expectStatus(page, 409);
  await edit.getByRole('textbox', { name: 'Max Activations' }).fill('5');
  await edit.getByRole('button', { name: 'Update License' }).click();
  const conflict = dialog(page, 'Someone else changed this meanwhile');
  await expect(conflict.getByRole('row')).toHaveText(['FieldTheirsYours', 'Max Activations95']);
  await conflict.getByRole('button', { name: 'Keep Theirs' }).click();
  await expectSaid(page, `Kept what someone else saved${license.licenseKey}`);
  await expect(conflict).toBeHidden();
  await expect(row(page, license)).toContainText('0/9');
  await page.goBack();
  await expect(page).toHaveURL(only(customer));

  await tab(page, 'Revoked').click();
  await row(page, revoked).getByRole('button', { name: 'View' }).click();
  const view = dialog(page, 'View License');
  await expect(view.getByRole('note')).toHaveText('Revoked licenses cannot be edited');
  await expect(view).toContainText('Oncology: Lung Nodule');
  await expect(view.getByRole('textbox')).toHaveCount(0);
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  await chooseInMenu(row(page, revoked), 'Issue Similar');
  const similar = dialog(page, 'Create License');
  await expect(similar.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  await expect(similar.getByRole('combobox', { name: 'License Type' })).toHaveValue('Enterprise');
  await expect(similar.getByRole('checkbox', { name: 'Lung Nodule' })).toBeChecked();
  await page.keyboard.press('Escape');
  await expect(similar).toBeHidden();
  await page.route(`**${modules.list.path}`, async (route) => {
    const { data, ...rest } = await (await route.fetch()).json();
    const offered = data.filter((one: { moduleId: string }) => one.moduleId !== 'mod_lung_nodule');
    await route.fulfill({ json: { ...rest, data: offered } });
  });
  await page.reload();
  await chooseInMenu(row(page, revoked), 'Issue Similar');
  await expect(similar.getByRole('note')).toHaveText('No longer offered, and left out: Lung Nodule');
  await expect(similar.getByRole('checkbox', { name: 'Lung Nodule' })).toHaveCount(0);
  const sent = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().includes('/licenses'),
  );
  await similar.getByRole('button', { name: 'Create License' }).click();
  expect((await sent).postDataJSON()).toMatchObject({ moduleIds: ['mod_diabetes'] });
  await page.unrouteAll({ behavior: 'wait' });
  await expect(similar).toContainText(`License created for ${customer.name}: Enterprise, valid until`);
  await similar.getByRole('button', { name: 'Done' }).click();
  await expect(tab(page, 'Active')).toHaveText('Active2');

  await test.step('an extension keeps the time of day at which a license ends, a typed day has none', async () => {
    const byProgram = await makeLicense(server.admin, {
      ...of(customer),
      validUntil: '2035-12-31T23:59:59.000Z',
    });
    await goTo(page, `${only(customer)}&edit=${byProgram.licenseId}`);
    await edit.getByRole('button', { name: '+1 year' }).click();
    await expect(edit.getByText('Ends at 23:59 UTC on this day')).toBeVisible();
    await edit.getByRole('textbox', { name: 'Valid Until' }).fill('1 Jan 2037');
    await expect(edit.getByText('Ends when this day begins in UTC')).toBeVisible();
    await edit.getByRole('textbox', { name: 'Valid Until' }).fill('31 Dec 2035');
    await edit.getByRole('button', { name: '+1 year' }).click();
    const saved = page.waitForRequest((request) => request.method() === 'PATCH');
    await edit.getByRole('button', { name: 'Update License' }).click();
    expect((await saved).postDataJSON()).toMatchObject({ validUntil: '2036-12-31T23:59:59.000Z' });
    await expect(edit).toBeHidden();
  });
});

test('modules, hospitals and choices in the form of a license', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('modules that cannot be loaded: said, and tried again', async () => {
    await makeCustomer(server.admin);
    expectStatus(page, 400);
    await goTo(page, '/customers');
    await page.route(`**${modules.list.path}`, (route) => route.fulfill({ status: 400, body: '{}' }));
    await page.goto('/licenses?dialog=create');
    const modal = dialog(page, 'Create License');
    await expect(modal.getByText('Failed to load modules', { exact: true })).toBeVisible();
    await expectAccessible(page);
    await page.unroute(`**${modules.list.path}`);
    await modal.getByRole('button', { name: 'Retry' }).click();
    await expect(modal.getByRole('group', { name: 'Oncology' })).toBeVisible();
    await page.keyboard.press('Escape');
    // the next step opens the same address
    await expect(modal).toBeHidden();
    await expectNoMoreFailures(page);
  });

  await test.step('hospitals of one name are told apart, and none is chosen for the user', async () => {
    const name = `${unique("St. Mary's")} Hospital`;
    await makeCustomer(server.admin, { name, country: 'IE' });
    const british = await makeCustomer(server.admin, { name, country: 'GB', email: 'it@marys.example' });
    await goTo(page, '/licenses?dialog=create');
    const form = dialog(page, 'Create License');
    const customer = form.getByRole('combobox', { name: 'Customer' });
    const both = [`${name} · Ireland`, `${name} · United Kingdom · it@marys.example`];
    const part = name.slice(0, -3);
    for (const [typed, key, offered] of [
      [name, 'Enter', both],
      [part, 'Enter', [...both, `Create “${part}”`]],
      [name, 'Tab', both],
    ] as const) {
      await customer.fill(typed);
      await expect(page.getByRole('option')).toHaveText(offered);
      await customer.press(key);
      await expect(customer).toHaveAccessibleDescription('Several have this name: choose one');
      await expect(customer).toHaveValue(typed);
      await expect(dialog(page, 'Add Customer')).toBeHidden();
    }
    await form.getByRole('button', { name: 'Create License' }).click();
    await expect(form).toBeVisible();
    await customer.pressSequentially(name);
    await expect(page.getByRole('option')).toHaveCount(2);
    await customer.press('ArrowDown');
    await customer.press('Enter');
    await expect(customer).toHaveValue(`${name} · United Kingdom · it@marys.example`);
    await form.getByRole('button', { name: 'Create License' }).click();
    await expect(form).toContainText(`License created for ${name}`);
    const { customerId } = british;
    expect(await server.admin.ok(licenses.list, { query: { customerId } })).toHaveLength(1);
    await form.getByRole('button', { name: 'Done' }).click();
  });

  await test.step('a letter goes to the option that begins with it, an arrow opens the list at the chosen one, Tab and Space choose', async () => {
    const customer = await makeCustomer(server.admin, { name: unique('Typed choice') });
    await goTo(page, only(customer));
    await button(page, 'Create License').first().click();
    const type = dialog(page, 'Create License').getByRole('combobox', { name: 'License Type' });
    const current = () =>
      type.evaluate(
        (field) => document.getElementById(field.getAttribute('aria-activedescendant') ?? '')?.textContent,
      );

    await test.step('in a form', async () => {
      await type.press('ArrowDown');
      await type.press('ArrowDown');
      await expect.poll(current).toBe('Enterprise');
      await type.press('Tab');
      await expect(type).toHaveValue('Enterprise');
      await expect(type).not.toBeFocused();
      await expect(type).toHaveAttribute('aria-expanded', 'false');
      await type.press('ArrowUp');
      await type.press('ArrowUp');
      await expect.poll(current).toBe('Trial');
      await type.press('Space');
      await expect(type).toHaveValue('Trial');
      await expect(type).toBeFocused();
      await expect(type).toHaveAttribute('aria-expanded', 'false');

      await type.press('e');
      await expect(type).toHaveAttribute('aria-expanded', 'true');
      await expect(type).toHaveValue('Trial');
      await expect.poll(current).toBe('Enterprise');
      await type.press('Enter');
      await expect(type).toHaveValue('Enterprise');
      await type.press('ArrowUp');
      await expect(type).toHaveAttribute('aria-expanded', 'true');
      await expect.poll(current).toBe('Enterprise');
      await type.press('ArrowUp');
      await expect.poll(current).toBe('Trial');
      await type.press('Escape');
      await expect(type).toHaveAttribute('aria-expanded', 'false');
      await type.click();
      await expect(type).toHaveAttribute('aria-expanded', 'true');
      await type.press('x');
      await expect.poll(current).toBe('Enterprise');
      await type.press('Escape');
      await expect(type).toHaveValue('Enterprise');

      await test.step('also where the list before unmarks the options of this one', async () => {
        // a busy page runs its timers after the next keys
        const timers = await page.evaluateHandle(() => {
          const start = window.setTimeout.bind(window);
          const held: (() => void)[] = [];
          const late = (run: () => void, wait?: number) =>
            wait === 0 ? (held.push(run), 0) : start(run, wait);
          Object.assign(window, { setTimeout: late });
          return { start, held };
        });
        const runHeld = () => timers.evaluate(({ held }) => held.splice(0).forEach((run) => run()));
        const reopened = async (keys: string[]) => {
          await type.press('ArrowUp');
          await type.press('Escape');
          for (const key of keys) await type.press(key);
          await runHeld();
          await expect(page.locator('[role="option"][data-combobox-selected]')).toHaveCount(0);
          await expect(type).toHaveAttribute('aria-expanded', 'true');
        };
        await reopened(['ArrowUp']);
        await type.press('ArrowUp');
        await expect.poll(current).toBe('Trial');
        await type.press('Escape');
        for (const [keys, key, label] of [
          [['t'], 'Enter', 'Trial'],
          [['e'], 'Tab', 'Enterprise'],
          [['ArrowUp', 'ArrowUp'], 'Space', 'Trial'],
        ] as [string[], string, string][]) {
          await reopened(keys);
          await type.press(key);
          await expect(type).toHaveValue(label);
        }
        await timers.evaluate(({ start }) => Object.assign(window, { setTimeout: start }));
        await runHeld();
      });
    });

    await test.step('in a filter: several letters, and the same letter again', async () => {
      await goTo(page, '/releases');
      const architecture = page.getByRole('combobox', { name: 'Architecture' });
      const chooses = async (keys: string, label: string) => {
        await architecture.focus();
        // at once: on a busy machine a letter that is sent after the one before may be too late to belong to it
        await Promise.all(keys.split('').map((key) => page.keyboard.press(key)));
        await architecture.press('Enter');
        await expect(architecture).toHaveValue(label);
      };
      await chooses('x', 'x64');
      await chooses('x', 'x86');
      await chooses('a', 'arm64');
      await chooses('x8', 'x86');
      await chooses('xx', 'x86');
      // what is chosen stays when it is chosen again
      await architecture.press('ArrowDown');
      await architecture.press('Enter');
      await expect(architecture).toHaveAttribute('aria-expanded', 'false');
      await expect(architecture).toHaveValue('x86');

      await test.step('what comes late from the address takes no key away', async () => {
        await architecture.press('ArrowDown');
        await page.evaluate(() => history.pushState(history.state, '', '/releases?architecture=arm64'));
        await expect(architecture).toHaveValue('arm64');
        await architecture.press('Enter');
        await expect(architecture).toHaveAttribute('aria-expanded', 'false');
        await expect(architecture).toHaveValue('arm64');
      });
    });
  });
});

test('the page /licenses/new has defaults of its own', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Page owner') });
  await page.clock.setFixedTime('2027-01-31T12:00:00Z');
  expectStatus(page, 400);
  await signInAs(page, 'super_admin', '/customers', server);
  await page.route(`**${customers.list.path}?*`, (route) => route.fulfill({ status: 400, body: '{}' }));
  await page.goto('/licenses/new');
  await expect(page.getByRole('heading', { name: 'Failed to load customers' })).toBeVisible();
  await page.unroute(`**${customers.list.path}?*`);
  await page.getByRole('button', { name: 'Retry' }).click();

  const field = (name: string) => page.getByRole('textbox', { name });
  await expect(field('Valid From')).toHaveValue('31 Jan 2027');
  await expect(field('Valid Until')).toHaveValue('2 Mar 2027');
  await expect(field('Max Activations')).toHaveValue('1');
  await expect(page.getByRole('combobox', { name: 'License Type' })).toHaveValue('Trial');
  await page.getByRole('combobox', { name: 'License Type' }).click();
  await page.getByRole('option', { name: 'Enterprise' }).click();
  await expect(field('Valid Until')).toHaveValue('28 Feb 2027');
  await expectAccessible(page);
  await page.getByRole('combobox', { name: 'Customer' }).fill(customer.name);
  await page.getByRole('option', { name: customer.name }).click();
  const question = dialog(page, 'Discard changes?');
  const waysOut = [
    () => page.getByRole('link', { name: 'Analytics' }).click(),
    () => button(page, 'Cancel').click(),
    () => page.getByRole('link', { name: 'Back to Licenses' }).click(),
  ];
  for (const leave of waysOut) {
    await leave();
    await question.getByRole('button', { name: 'Keep Editing' }).click();
    await expect(question).toBeHidden();
    await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  }
  // its answer is lost, and it is sent again
  await loseAnswers(page, licenses.create);
  await button(page, 'Create License').click();
  await expect(
    page.getByText(
      'The server cannot be reached. Your change may have been applied. Send it again unchanged: it is applied only once.',
    ),
  ).toBeVisible();
  await button(page, 'Create License').click();
  await expect(
    page.getByText(`License created for ${customer.name}: Enterprise, valid until 28 Feb 2027.`),
  ).toBeVisible();
  await expect(page.getByText(/^This was done before, by an attempt whose answer was lost/)).toBeVisible();
  const issued = await server.admin.ok(licenses.list, { query: { customerId: customer.customerId } });
  expect(issued).toHaveLength(1);

  await page.route(`**${customers.list.path}?*`, (route) =>
    route.fulfill({
      json: { success: true, data: [], meta: { total: 0, limit: 50, offset: 0, deleted: 0 } },
    }),
  );
  await page.goto('/licenses/new');
  await expect(page.getByRole('heading', { name: 'No Customers Found' })).toBeVisible();
  await expect(
    page.getByText('Please create a customer before creating a license.', { exact: true }),
  ).toBeVisible();
  await expectAccessible(page);
});
