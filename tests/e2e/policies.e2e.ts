import { noPolicy, policies } from '../../contract/policies.ts';
import { displayIdOf } from '../../server/features/update-events/machine-id.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { makeCustomer, makeLicense, unique, validateOn } from '../factories.ts';
import { toastDuration } from '../../web/ui/toast.tsx';
import { makeRelease, report } from './releases.ts';
import { holdBack } from './hold-back.ts';
import {
  goTo,
  prolong,
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  rowOf,
  signInAs,
  test,
} from './support.ts';

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
  await chooseInMenu(rowOf(page, customer.name), 'Updates');
  const form = dialog(page, 'Update Policy');
  const impact = form.getByRole('status');
  await expect(impact).toContainText('would be offered something else now.');
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
  await expect(impact).toHaveText('1 of 1 machine would be offered something else now.');
  await form.getByRole('button', { name: 'Save Policy' }).click();
  await expectSaid(page, 'Update policy saved');
  const saved = { params: { id: customer.customerId } };
  expect(await server.admin.ok(policies.getOfCustomer, saved)).toMatchObject({
    ...noPolicy,
    pin: '74.2.',
    tags: ['clinics'],
  });

  await chooseInMenu(rowOf(page, customer.name), 'Updates');
  await form.getByRole('button', { name: 'Policy of clinics' }).click();
  const tag = dialog(page, 'Update Policy of a Tag');
  await expect(tag).toContainText('For 1 customer with the tag clinics.');
  await tag.getByLabel('Deferral').fill('14');
  await tag.getByRole('button', { name: 'Save Policy' }).click();
  await expect(tag).toBeHidden();

  await goTo(page, `/machines/${displayIdOf(machineHashOf(machineId))}`);
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
    await rowOf(page, 'clinics').press('Enter');
    await expect(tag).toContainText('For 1 customer with the tag clinics.');
    await tag.getByLabel('Deferral').fill('21');
    await tag.getByRole('button', { name: 'Save Policy' }).click();
    await expect(rowOf(page, 'clinics')).toContainText('Deferred by 21 days');
    await page.getByPlaceholder('Search tags...').fill('no such');
    await expect(page.getByRole('heading', { name: 'No tags' })).toBeVisible();
  });
});

test('windows and days typed wrongly are refused by name and stay; no toast covers Save or Close', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin, { name: unique('Night Hospital') });
  await page.setViewportSize({ width: 1280, height: 720 });
  // the toast stays for as long as the test needs it
  await prolong(page, toastDuration, 10 * 60_000);
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(customer.name)}`, server);
  await chooseInMenu(rowOf(page, customer.name), 'Updates');
  const form = dialog(page, 'Update Policy');
  const save = form.getByRole('button', { name: 'Save Policy' });
  const field = (name: string) => form.getByRole('textbox', { name });
  const type = async (name: string, text: string) => {
    await field(name).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(text);
  };
  await form.getByRole('combobox', { name: 'Maintenance Windows' }).click();
  await page.getByRole('option', { name: 'Only in these windows' }).click();
  const windows = form.getByRole('group', { name: 'Window 1' });
  for (const label of ['From', 'To', 'Time zone'])
    await expect(windows.getByText(label, { exact: true })).toBeVisible();
  await type('From, window 1', '22:');
  await page.keyboard.press('Tab');
  await expect(windows.getByRole('alert')).toHaveText('From: Must be a time from 00:00 to 23:59');
  await field('To, window 1').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await form.getByRole('combobox', { name: 'Time zone, window 1' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Middle Earth');
  await page.keyboard.press('Tab');
  await type('Updates Until', '31.02.2027');
  await type('Deferral', '7,5');
  await save.click();
  await expect(form.getByText('There is no such day')).toBeVisible();
  await expect(form.getByText('Must be a whole number from 0 to 365')).toBeVisible();
  await expect(windows.getByRole('alert')).toHaveText(
    'From: Must be a time from 00:00 to 23:59\nTo: Must be a time from 00:00 to 23:59\nTime zone: Must be a time zone such as Europe/Berlin',
  );
  // each wrong field of a window is announced with what is wrong
  const from = 'From: Must be a time from 00:00 to 23:59';
  await expect(field('From, window 1')).toHaveAccessibleDescription(new RegExp(`^${from}`));
  const zone = form.getByRole('combobox', { name: 'Time zone, window 1' });
  await expect(zone).toHaveAccessibleDescription(/Time zone: Must be a time zone/);
  await expect(field('Deferral')).toBeFocused();
  await expect(field('From, window 1')).toHaveValue('22:');
  await expect(field('Updates Until')).toHaveValue('31.02.2027');
  await expectAccessible(page);
  // both ends at once, as text from a mail
  await field('From, window 1').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('22:00-6:00');
  await expect(field('From, window 1')).toHaveValue('22:00');
  await expect(field('To, window 1')).toHaveValue('06:00');
  for (const [typed, found] of [
    ['new york', 'America/New_York'],
    ['Kyiv', 'Europe/Kyiv'],
    ['Europe/Berl', 'Europe/Berlin'],
  ]) {
    await zone.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(typed!);
    await page.keyboard.press('Enter');
    await expect(zone).toHaveValue(found!);
  }
  await type('Updates Until', '28.02.2027');
  await type('Deferral', '7');
  const days = (window: number) =>
    form.getByRole('group', { name: `Window ${window}` }).getByRole('checkbox', { checked: true });
  const add = form.getByRole('button', { name: 'Add Window' });
  // the button moves down, and a day of the new window comes to its place
  await add.dblclick();
  await expect(form.getByRole('group', { name: /^Window/ })).toHaveCount(2);
  await expect(days(2)).toHaveCount(7);
  await add.click();
  await form.getByRole('button', { name: 'Remove window 3' }).press('Enter');
  await expect(add).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(days(3)).toHaveCount(7);
  // the days in one line, and the bin beside the time zone
  const tops = await windows.evaluate((group) =>
    ['.mantine-Chip-label', 'input[placeholder], .mantine-ActionIcon-root'].map((controls) => {
      const found = [...group.querySelectorAll(controls)];
      return new Set(found.map((one) => Math.round(one.getBoundingClientRect().top / 8))).size;
    }),
  );
  expect(tops).toEqual([1, 1]);
  for (let left = 7; left > 1; left--) await days(1).first().press('Space');
  await expect(form.getByRole('status')).toBeVisible();
  // on a slow machine, pressed between the drawing without the number of machines and the effects of that drawing
  await save.evaluate((button: HTMLElement) => {
    const now = performance.now.bind(performance);
    let late = 0;
    performance.now = () => now() + (late += 10);
    const around = button.closest('form')!;
    const changes = new MutationObserver(() => {
      if (around.querySelector('[role="status"]')) return;
      changes.disconnect();
      button.focus();
      button.click();
      performance.now = now;
    });
    changes.observe(around, { childList: true, subtree: true });
  });
  await days(1).press('Space');
  await expect(windows.getByRole('alert')).toHaveText('Days: Must be at least one day');
  await expect(windows.getByRole('checkbox', { name: 'Mon' })).toBeFocused();
  await expect(windows.getByRole('group')).toHaveAccessibleDescription('Days: Must be at least one day');
  await page.keyboard.press('Space');
  await save.click();
  // the button that opened the dialog has the focus again, while the toast is shown
  await expect(form).toBeHidden();
  for (const size of [
    { width: 1280, height: 720 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await chooseInMenu(rowOf(page, customer.name), 'Updates');
    const reached = await page.waitForFunction(() => {
      const modal = document.querySelector('[role=dialog]');
      const labeled = (text: string) =>
        [...(modal?.querySelectorAll('button') ?? [])].find((one) => one.textContent === text);
      const buttons = [
        labeled('Save Policy'),
        labeled('Cancel'),
        modal?.querySelector('.mantine-Modal-close'),
      ].filter((one) => one instanceof HTMLElement);
      const isToasted = document.querySelector('[aria-label=Notifications]')?.textContent !== '';
      if (buttons.length < 3 || !isToasted) return false;
      buttons[0]?.scrollIntoView({ block: 'end' });
      return buttons.map((button) => {
        const { x, y, width, height } = button.getBoundingClientRect();
        return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      });
    });
    expect(await reached.jsonValue(), `${size.width} px wide`).toEqual([true, true, true]);
    if (size.width > 1200) {
      // nor its title
      const toast = (await page.getByText('Update policy saved').boundingBox())!;
      expect(toast.x + toast.width).toBeLessThan((await form.boundingBox())!.x);
    }
    await form.getByRole('button', { name: 'Cancel' }).click();
  }
  const saved = await server.admin.ok(policies.getOfCustomer, { params: { id: customer.customerId } });
  expect(saved).toMatchObject({ deferDays: 7, updatesUntil: '2027-02-28' });
  expect(saved.windows).toHaveLength(3);
  expect(saved.windows![0]).toMatchObject({ from: '22:00', to: '06:00', zone: 'Europe/Berlin' });
});

test('the form of a policy beside what it does, and what others do', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('the machines that a policy changes are those of what is typed now', async () => {
    const { customerId } = await makeCustomer(server.admin);
    await goTo(page, `/customers?policy=${customerId}`);
    const form = dialog(page, 'Update Policy');
    const impact = form.getByRole('status');
    await expect(impact).toHaveText('No machine is affected.');
    const answer = await holdBack(page, `**${policies.impactOnCustomer.path.replace('{id}', customerId)}`);
    await form.getByLabel('Pinned Version').fill('9.');
    await expect(impact).toHaveText('Counting the machines that this changes …');
    answer();
    await expect(impact).toContainText('No published release matches the pinned version.');
    await page.keyboard.press('Escape');
    await dialog(page, 'Discard changes?').getByRole('button', { name: 'Discard' }).click();
  });

  await test.step('two edits of one policy make none together that neither person saw', async () => {
    const { customerId } = await makeCustomer(server.admin);
    const at = { params: { id: customerId } };
    const stored = () => server.admin.ok(policies.getOfCustomer, at);
    await server.admin.ok(policies.putOfCustomer, { ...at, body: { ...noPolicy, tags: [], pin: '4.2.' } });
    await goTo(page, `/customers?policy=${customerId}`);
    const form = dialog(page, 'Update Policy');
    await form.getByRole('combobox', { name: 'Channel' }).click();
    await page.getByRole('option', { name: 'Alpha' }).click();
    // alpha without the pin: neither of them was told what that offers to the hospital
    await server.admin.ok(policies.putOfCustomer, { ...at, body: { ...noPolicy, tags: [] } });
    expectStatus(page, 409);
    await form.getByRole('button', { name: 'Save Policy' }).click();
    const question = dialog(page, 'Someone else changed this meanwhile');
    await expect(rowOf(question, 'Channel')).toContainText('Alpha');
    await expect(rowOf(question, 'Pinned Version')).toContainText('4.2.');
    expect(await stored()).toMatchObject({ channel: null, pin: null });
    await question.getByRole('button', { name: 'Save Mine Anyway' }).click();
    await expect(form).toBeHidden();
    expect(await stored()).toMatchObject({ channel: 'alpha', pin: '4.2.' });

    // who changed nothing decides nothing, and restores nothing
    await goTo(page, `/customers?policy=${customerId}`);
    await expect(form.getByLabel('Pinned Version')).toHaveValue('4.2.');
    await server.admin.ok(policies.putOfCustomer, { ...at, body: { ...noPolicy, tags: [], pin: '5.' } });
    await form.getByRole('button', { name: 'Save Policy' }).click();
    await expect(form).toBeHidden();
    expect(await stored()).toMatchObject({ channel: null, pin: '5.' });
  });

  await test.step('the policy of a tag takes the place of what was typed only when that is discarded', async () => {
    const { customerId, name } = await makeCustomer(server.admin, { name: unique('Typed Hospital') });
    await server.admin.ok(policies.putOfCustomer, {
      params: { id: customerId },
      body: { ...noPolicy, tags: ['typed'] },
    });
    await goTo(page, `/customers?search=${encodeURIComponent(name)}`);
    await chooseInMenu(rowOf(page, name), 'Updates');
    const form = dialog(page, 'Update Policy');
    const deferral = form.getByRole('textbox', { name: 'Deferral' });
    await deferral.fill('14');
    await form.getByRole('button', { name: 'Policy of typed' }).click();
    const question = dialog(page, 'Discard changes?');
    await question.getByRole('button', { name: 'Keep Editing' }).click();
    await expect(deferral).toHaveValue('14');
    await form.getByRole('button', { name: 'Policy of typed' }).click();
    await question.getByRole('button', { name: 'Discard' }).click();
    await expect(dialog(page, 'Update Policy of a Tag')).toContainText('For 1 customer with the tag typed.');
  });
});
