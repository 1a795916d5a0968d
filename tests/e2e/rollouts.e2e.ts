import { releases } from '../../contract/releases.ts';
import { historyLength, rollouts } from '../../contract/rollouts.ts';
import { every } from '../../web/live.ts';
import { makeRelease, report } from './releases.ts';
import { editing, stepField, stored, type } from './releases-screen.ts';
import { patternOf } from './calls.ts';
import { holdBack } from './hold-back.ts';
import {
  comeBack,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  quiet,
  signInAs,
  test,
} from './support.ts';
import { planOf } from '../plan-of.ts';

test('a draft is published in steps, which are edited and dropped for a percentage', async ({
  page,
  server,
}) => {
  const release = await makeRelease(server, {}, { isDraft: true });
  await signInAs(page, 'binary_manager', `/releases/${release.id}`, server);
  await expect(page.getByRole('main')).toContainText(`Release ${release.version}Windows (x64)`);
  const plan = page.getByRole('region', { name: 'Rollout', exact: true });
  await expect(plan).toContainText('A draft: the rollout begins when it is published.');
  await expect(plan.locator('[aria-current=step], [data-state=now]')).toHaveCount(0);
  await expect(plan).not.toContainText('Guard quiet');
  await page.getByRole('main').getByRole('button', { name: 'Edit' }).press('Enter');
  const form = editing(page);
  await form.getByRole('checkbox', { name: 'Draft Release' }).uncheck();
  await form.getByText('In steps', { exact: true }).click();
  await expect(stepField(page, 'Percentage of step 1')).toHaveValue('1');
  await expectAccessible(page);
  await type(page, 'Percentage of step 1', '5');
  await type(page, 'Hours of step 1', '1 day');
  await expect(form.getByText('Must be a whole number from 1 to 2160')).toBeVisible();
  await expect(stepField(page, 'Hours of step 1')).toHaveAccessibleDescription(
    'Must be a whole number from 1 to 2160',
  );
  await expect(stepField(page, 'Percentage of step 1')).toHaveAccessibleDescription('');
  await type(page, 'Hours of step 1', '36');
  await type(page, 'Percentage of step 2', '');
  await expect(form.getByText('Must be a whole number from 1 to 100')).toBeVisible();
  await form.getByRole('button', { name: 'Remove step 2' }).click();
  await expect(form.getByText('Must be a whole number from 1 to 100')).toBeHidden();
  await form.getByRole('button', { name: 'Add a Step' }).click();
  await type(page, 'Percentage of step 2', '');
  await form.getByRole('button', { name: 'Save Changes' }).click();
  await expect(form.getByText('Must be a whole number from 1 to 100')).toBeVisible();
  await expect(stepField(page, 'Percentage of step 2')).toHaveValue('');
  expect((await stored(server, release)).isDraft).toBe(true);
  await form.getByRole('button', { name: 'Remove step 2' }).click();
  await form.getByRole('button', { name: 'Add a Step' }).dblclick();
  await expect(stepField(page, 'Percentage of step 3')).toHaveValue('100');
  await type(page, 'Percentage of step 2', '50');
  await expect(form.getByRole('status')).toContainText('5 % for 36 h, 50 % for 24 h, 100 %. Reaches 100 %');
  await form.getByRole('button', { name: 'Save Changes' }).click();
  await expect(form).toBeHidden();
  await expect(plan.locator('[aria-current=step]')).toContainText('5 %');
  await expect(page.getByRole('main').getByRole('button', { name: 'Edit' })).toBeFocused();
  expect(await stored(server, release)).toMatchObject({
    isDraft: false,
    rolloutPercentage: 5,
    stepTaken: 0,
    rolloutPlan: planOf([5, 36], [50, 24], [100]),
  });

  await goTo(page, `/releases?edit=${release.id}`);
  await type(page, 'Hours of step 1', '40');
  await expect(form.getByRole('status')).toHaveText(
    '5 % for 40 h, 50 % for 24 h, 100 %. The rollout continues from its present 5 %; the hours of its step that have run count.',
  );
  await form.getByRole('button', { name: 'Save Changes' }).click();
  await expect(form).toBeHidden();
  expect((await stored(server, release)).rolloutPlan?.[0]).toEqual({ percentage: 5, hours: 40 });

  await goTo(page, `/releases?edit=${release.id}`);
  await test.step('the focus stays at the steps, also where the pressed button goes', async () => {
    const add = form.getByRole('button', { name: 'Add a Step' });
    await form.getByRole('button', { name: 'Remove step 3' }).press('Enter');
    await expect(add).toBeFocused();
    await form.getByRole('button', { name: 'Remove step 1' }).press('Enter');
    await expect(add).toBeFocused();
    for (let steps = 2; steps <= 10; steps++) {
      await page.keyboard.press('Enter');
      await expect(form.getByLabel(/^Percentage of step/)).toHaveCount(steps);
    }
    await expect(form.getByRole('button', { name: 'Remove step 10' })).toBeFocused();
    // none that would be refused is proposed
    const proposed = await form
      .getByLabel(/^Percentage of step/)
      .evaluateAll((all) => all.map((field) => (field as HTMLInputElement).value));
    expect(proposed).toEqual(['25', '38', '44', '47', '49', '', '', '', '', '50']);
  });
  await form.getByText('One percentage', { exact: true }).click();
  await expect(form.getByText(/^Saving drops the rest of the plan/)).toBeVisible();
  await form.getByRole('button', { name: 'Save Changes' }).click();
  await expect(form).toBeHidden();
  expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 5, rolloutPlan: null });
});

test('the steps that the form suggests are set for each channel', async ({ page, server }) => {
  const draft = await makeRelease(server, { channel: 'alpha', version: '70.0.0-alpha' }, { isDraft: true });
  await signInAs(page, 'binary_manager', '/releases', server);
  await page.getByRole('button', { name: 'Default Rollout' }).click();
  const defaults = dialog(page, 'Default Rollout');
  await defaults.getByRole('checkbox', { name: 'Suggest steps on alpha' }).check();
  await type(page, 'Percentage of step 1', '20');
  await defaults.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(defaults.getByText('Must be more than in the step before')).toBeVisible();
  await type(page, 'Percentage of step 2', '30');
  await expectAccessible(page);
  await defaults.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(defaults).toBeHidden();
  const suggested = planOf([20, 24], [30, 48], [100]);
  expect(await server.admin.ok(rollouts.defaults)).toContainEqual({ channel: 'alpha', plan: suggested });

  // Nobody publishes before the suggestion is known, however slow the network is.
  const answer = await holdBack(page, `**${rollouts.defaults.path}`);
  await page.goto(`${server.url}/releases?edit=${draft.id}`);
  await expect(editing(page).getByText(/^Version 70\.0\.0-alpha/)).toBeVisible();
  const isDraft = editing(page).getByRole('checkbox', { name: 'Draft Release' });
  await expect(isDraft).toBeHidden();
  answer();
  await isDraft.uncheck();
  await expect(stepField(page, 'Percentage of step 1')).toHaveValue('20');
  await server.admin.ok(rollouts.setDefault, { params: { channel: 'alpha' }, body: { plan: null } });
});

test('the steps of one channel are saved without those that another user changed meanwhile', async ({
  page,
  server,
}) => {
  const plan = planOf([7, 24], [100]);
  const set = (changed: typeof plan | null) =>
    server.admin.ok(rollouts.setDefault, { params: { channel: 'beta' }, body: { plan: changed } });
  await page.clock.install();
  await signInAs(page, 'binary_manager', '/releases?dialog=defaults', server);
  const defaults = dialog(page, 'Default Rollout');
  await defaults.getByRole('checkbox', { name: 'Suggest steps on alpha' }).check();
  await set(plan);
  await page.clock.fastForward(6 * 60_000);
  const again = page.waitForResponse((answer) => answer.url().endsWith(rollouts.defaults.path));
  await comeBack(page);
  await (await again).finished();
  await quiet(page);
  const save = defaults.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await expect(defaults).toBeHidden();
  expect(await server.admin.ok(rollouts.defaults)).toContainEqual({ channel: 'beta', plan });

  await page.getByRole('button', { name: 'Default Rollout' }).click();
  await defaults.getByRole('checkbox', { name: 'Suggest steps on beta' }).uncheck();
  const theirs = [{ percentage: 9, hours: 24 }, plan[1]!];
  await set(theirs);
  expectStatus(page, 409);
  await save.click();
  await expect(defaults.getByRole('alert')).toHaveText(
    'Someone else changed beta meanwhile: 9 % for 24 h, 100 %. Save again to set yours.',
  );
  expect(await server.admin.ok(rollouts.defaults)).toContainEqual({ channel: 'beta', plan: theirs });
  await save.click();
  await expect(defaults).toBeHidden();
  expect(await server.admin.ok(rollouts.defaults)).toContainEqual({ channel: 'beta', plan: null });
  await set(null);
  await server.admin.ok(rollouts.setDefault, { params: { channel: 'alpha' }, body: { plan: null } });
});

test('other machines of a release are shown from their first page on', async ({ page, server }) => {
  const release = await makeRelease(server);
  const lane = { platform: 'win32', architecture: 'x64' } as const;
  const reported = { ...lane, releaseId: release.id, toVersion: release.version };
  for (const eventType of ['install_complete', 'install_error'] as const)
    await report(
      server,
      Array.from({ length: 51 }, (_, n) => ({
        machineId: `${eventType} paged ${n}`,
        eventType,
        ...reported,
      })),
    );
  await signInAs(page, 'binary_manager', `/releases/${release.id}?page=2`, server);
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await expect(pages).toContainText('Showing 51 to 51 of 51');
  await page.getByText('Failed', { exact: true }).last().click();
  await expect(page).toHaveURL(/group=failed/);
  // the rows of the group before are shown until then, and a press on one of them would be lost
  await quiet(page);
  await expect(pages).toContainText('Showing 1 to 50 of 51');
  await page.getByRole('region', { name: 'Machines of the release' }).getByRole('link').first().click();
  await page.getByRole('link', { name: `Back to Release ${release.version}` }).click();
  await expect(page).toHaveURL(/group=failed/);
});

test('the page of a release shows its plan and what became of it, and changes it', async ({
  page,
  server,
}) => {
  const plan = planOf([1, 24], [10, 48], [100]);
  const release = await makeRelease(server, { version: '80.1.0' }, { isDraft: true });
  await page.clock.install();
  await signInAs(page, 'binary_manager', '/releases?search=80.1.0', server);
  await page.getByRole('link', { name: 'Windows', exact: true }).click();
  await expect(page).toHaveURL(`${server.url}/releases/${release.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Release 80.1.0');
  await expect(page.getByText('A draft: the rollout begins when it is published.')).toBeVisible();
  await expect(page.getByText('No install has failed.')).toBeVisible();

  const change = (body: object) =>
    server.admin.ok(releases.update, { params: { releaseId: release.id }, body });
  await change({ minimumAppVersion: '79.0.0' });
  await change({ isDraft: false, rolloutPlan: plan });
  await report(server, [
    {
      machineId: 'page-1',
      eventType: 'install_complete',
      platform: 'win32',
      architecture: 'x64',
      releaseId: release.id,
      toVersion: '80.1.0',
    },
    {
      machineId: 'page-2',
      eventType: 'install_error',
      releaseId: release.id,
      toVersion: '80.1.0',
      errorCode: 'EBUSY',
    },
  ]);
  await expect(async () => {
    await page.clock.fastForward(every);
    await expect(page.getByRole('rowheader', { name: 'EBUSY' }).first()).toBeVisible({ timeout: 1000 });
  }, 'the page refreshes by itself').toPass();
  await expect(page.getByText('Offered to 1 % of machines, step 1 of 3.')).toBeVisible();
  await expect(page.getByLabel('Machines, Windows (x64)')).toContainText('Silent0 of 0');
  await expect(page.getByRole('img', { name: 'Rollout 1 %', exact: true })).toBeVisible();
  await expect(page.getByText(/^Next step: 10 % at /)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Widen to 10 %' }).click();
  const widening = dialog(page, 'Widen Rollout');
  await expect(widening.getByRole('group', { name: 'Consequences' })).toContainText('machine');
  await widening.getByRole('button', { name: 'Widen to 10 %' }).click();
  await expect(page.getByText('Offered to 10 % of machines, step 2 of 3.')).toBeVisible();
  await expect(page.getByText(/^step 2 of 3 taken by hand: rollout 1 % → 10 %/)).toBeVisible();
  await expect(page.getByText('Minimum App Version: – → 79.0.0')).toBeVisible();

  await goTo(page, '/releases?search=80.1.0');
  await expect(page.getByText(/1 failed$/)).toBeVisible();
  await page.getByRole('button', { name: 'Widen 80.1.0 (stable) for Windows (x64)' }).click();
  await dialog(page, 'Widen Rollout').getByRole('button', { name: 'Widen to 100 %' }).click();
  await expectSaid(page, 'Rollout of 80.1.0 widened to 100 %');
  expect((await stored(server, release)).rolloutPercentage).toBe(100);
});

test('a rollout that a newer one hides says what it waits for', async ({ page, server }) => {
  const lane = { architecture: 'ia32', channel: 'alpha' } as const;
  const older = await makeRelease(
    server,
    { ...lane, version: '980.1.0' },
    { rolloutPlan: planOf([1, 24], [100]) },
  );
  await makeRelease(server, { ...lane, version: '980.2.0' }, { rolloutPercentage: 5 });
  await signInAs(page, 'binary_manager', `/releases/${older.id}`, server);
  await expect(page.getByText(/^At 1 %\. 980\.2\.0 is rolling out \(5 %\)\./)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Widen to 100 %' })).toBeEnabled();
  await expectAccessible(page);
  await goTo(page, '/releases?search=980.1.0');
  await expect(page.getByText('100 % waits for 980.2.0')).toBeVisible();
});

test('a release that a newer one replaces says who is still offered it', async ({ page, server }) => {
  const lane = { architecture: 'ia32', channel: 'beta' } as const;
  const inactive = await makeRelease(server, { ...lane, version: '979.0.0' }, { isActive: false });
  const older = await makeRelease(server, { ...lane, version: '979.1.0' });
  const newer = await makeRelease(server, { ...lane, version: '979.2.0' });
  const plan = page.getByRole('region', { name: 'Rollout', exact: true });
  await signInAs(page, 'binary_manager', `/releases/${older.id}`, server);
  await expect(plan).toContainText(
    'Offered to 100 % of the machines that an update policy keeps from 979.2.0, without further steps. The others are offered 979.2.0.',
  );
  await goTo(page, `/releases/${newer.id}`);
  await expect(plan).toContainText('Offered to 100 % of machines, without further steps.');
  await expect(plan).toContainText('Guard quiet');
  await goTo(page, `/releases/${inactive.id}`);
  await expect(plan).toContainText('Inactive: it is offered to no machine.');
  await expect(plan, 'the guard watches what is in a feed').not.toContainText('Guard quiet');
});

test('a history that ends before its first entry says so', async ({ page, server }) => {
  const release = await makeRelease(server);
  const isHistory = (url: URL) => patternOf(rollouts.history.path).test(url.pathname);
  await page.route(isHistory, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = (await response.json()) as { data: { id: string }[] };
    const many = Array.from({ length: historyLength }, (_, n) => ({ ...data[0], id: `${n}` }));
    await route.fulfill({ response, json: { ...rest, data: many } });
  });
  await signInAs(page, 'super_admin', `/releases/${release.id}`, server);
  await expect(page.getByText('The latest 100 are shown.')).toBeVisible();
  await page.unroute(isHistory);
  await page.reload();
  const history = page.getByRole('region', { name: 'History', exact: true });
  await expect(history).toContainText('created as a draft');
  await expect(history).not.toContainText('are shown');
  await history.getByRole('link', { name: 'All changes' }).click();
  await expect(page).toHaveURL((url) => url.searchParams.get('resourceId') === release.id);
});
