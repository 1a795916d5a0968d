import { releases, type Release } from '../../contract/releases.ts';
import { rollouts } from '../../contract/rollouts.ts';
import { loseAnswers } from './calls.ts';
import { makeRelease, report } from './releases.ts';
import { holdBack } from './hold-back.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectBriefly,
  expectStatus,
  goTo,
  prolong,
  quiet,
  rowOf,
  signInAs,
  signInHolding,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';
import { box, editing, press, rollout, stored, unfoldRollout } from './releases-screen.ts';
import { planOf } from '../plan-of.ts';

const field = (page: Page, name: string) => editing(page).getByRole('textbox', { name });
const percentage = (page: Page) => field(page, 'Rollout percentage in numbers');

const openEdit = async (page: Page, server: ConsoleServer, release: Release) => {
  const path = `/releases?edit=${release.id}`;
  await (page.url() === 'about:blank' ? signInAs(page, 'binary_manager', path, server) : goTo(page, path));
  await expect(box(page, 'Draft Release')).toBeVisible();
};

test('Edit Release changes what it shows, and says so', async ({ page, server }) => {
  const release = await makeRelease(server, {}, { releaseNotes: 'Before' });
  // how long the dialog says that it was saved, before it closes
  await prolong(page, 1200, 5000);
  await openEdit(page, server, release);
  await expect(editing(page)).toContainText(`Version ${release.version}`);
  await expect(editing(page).getByRole('heading')).toContainText('stable');
  await expect(editing(page).getByRole('heading')).toContainText('Windows (x64)');
  for (const hint of [
    'Release is not available for download',
    'Users must update to continue using the app',
    'Minimum version required to apply this update',
  ])
    await expect(editing(page).getByText(hint)).toBeVisible();
  const minimum = field(page, 'Minimum App Version');
  await expect(minimum).toHaveAttribute('placeholder', '0.9.0');
  await expect(field(page, 'Release Notes')).toHaveAttribute('rows', '4');
  await editing(page).getByRole('combobox', { name: 'Channel' }).click();
  await expect(page.getByRole('option')).toHaveText(['stable', 'beta', 'alpha']);
  await page.getByRole('option', { name: 'alpha' }).click();
  await expectAccessible(page);

  await minimum.fill('1.x');
  await press(page, 'Save Changes');
  await expect(editing(page).getByText('Invalid semantic version: 1.x')).toBeVisible();
  await minimum.fill('0.9.5');
  await box(page, 'Mandatory Update').check();
  await field(page, 'Release Notes').fill('After');
  const save = await holdBack(page, `**/releases/${release.id}`);
  await press(page, 'Save Changes');
  const busy = editing(page).getByRole('button', { name: 'Saving...' });
  await expect(busy).toBeVisible();
  // what is entered by now would seem to be saved
  const { x, y } = (await field(page, 'Release Notes').boundingBox())!;
  await page.mouse.click(x + 9, y + 9);
  await page.keyboard.type('Later');
  await expect(field(page, 'Release Notes')).toHaveValue('After');
  await expectBriefly(editing(page).getByText('Release updated successfully!'), async () => save());
  await expect(editing(page)).toBeHidden();
  expect(await stored(server, release)).toMatchObject({
    channel: 'alpha',
    isMandatory: true,
    minimumAppVersion: '0.9.5',
    releaseNotes: 'After',
    rolloutPercentage: 100,
  });
});

test('a release is edited also where the steps to suggest cannot be loaded', async ({ page, server }) => {
  expectStatus(page, 404);
  const release = await makeRelease(server);
  await page.route(`**${rollouts.defaults.path}`, (route) => route.fulfill({ status: 404 }));
  await openEdit(page, server, release);
  await field(page, 'Release Notes').fill('Typed for long');
  await quiet(page);
  await expect(field(page, 'Release Notes')).toHaveValue('Typed for long');
  await press(page, 'Save Changes');
  await expect(editing(page)).toBeHidden();
  expect((await stored(server, release)).releaseNotes).toBe('Typed for long');
});

test('the rollout of a release in its form', async ({ page, server }) => {
  await test.step('a draft can be neither mandatory nor rolled out', async () => {
    const release = await makeRelease(server, {}, { isMandatory: true });
    await openEdit(page, server, release);
    await expect(box(page, 'Mandatory Update')).toBeChecked();
    await box(page, 'Draft Release').check();
    await expect(box(page, 'Mandatory Update')).not.toBeChecked();
    await expect(box(page, 'Mandatory Update')).toBeDisabled();
    await rollout(page).click();
    await expect(
      editing(page).getByText(
        'Rollout configuration is disabled for draft releases. Publish the release first to configure rollout settings.',
      ),
    ).toBeVisible();
    await expect(percentage(page)).toBeDisabled();
    await expect(editing(page).getByText(/available to all users|gradually rolled out/)).toHaveCount(0);
    await press(page, 'Save Changes');
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ isDraft: true, isMandatory: false });
  });

  await test.step('steps outlast a slip on Draft', async () => {
    await openEdit(page, server, await makeRelease(server, {}, { isDraft: true }));
    await box(page, 'Draft Release').uncheck();
    await editing(page).getByText('In steps').click();
    await field(page, 'Hours of step 1').fill('7');
    await box(page, 'Draft Release').check();
    await box(page, 'Draft Release').uncheck();
    await expect(field(page, 'Hours of step 1')).toHaveValue('7');
    await press(page, 'Cancel');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect(editing(page)).toBeHidden();
  });

  await test.step('the rollout says to whom the release goes', async () => {
    const release = await makeRelease(server);
    await openEdit(page, server, release);
    await rollout(page).click();
    await expect(
      editing(page).getByText('This release will be available to all users immediately'),
    ).toBeVisible();
    await percentage(page).fill('30');
    await expect(
      editing(page).getByText('This release will be gradually rolled out to 30% of users'),
    ).toBeVisible();
    const slider = editing(page).getByRole('slider', { name: 'Rollout percentage' });
    await expect(slider).toHaveAttribute('aria-valuenow', '30');
    await expect(slider).toHaveAttribute('aria-valuemin', '0');
    await expect(slider).toHaveAttribute('aria-valuemax', '100');
    await slider.press('ArrowRight');
    await expect(percentage(page)).toHaveValue('31');
    // digits of other keyboards are read, or refused, and never stop the rollout as 0
    for (const [typed, shown] of [
      ['２５', '25'],
      ['٢٥', '٢٥'],
    ] as const) {
      await percentage(page).fill('');
      await percentage(page).pressSequentially(typed);
      await percentage(page).blur();
      await expect(percentage(page)).toHaveValue(shown);
    }
    await percentage(page).fill('');
    await percentage(page).blur();
    await expect(
      editing(page).getByText('This release will be gradually rolled out to 0% of users'),
    ).toBeVisible();
    await percentage(page).fill('12');
    await expectAccessible(page);
    const call = page.waitForRequest((request) => request.url().endsWith(`/rollout/${release.id}`));
    await press(page, 'Save Changes');
    expect((await call).postDataJSON()).toEqual({ percentage: 12, updatedAt: expect.any(String) });
    await expect(editing(page)).toBeHidden();
    expect((await stored(server, release)).rolloutPercentage).toBe(12);
  });

  await test.step('a draft is published to exactly the percentage that was typed', async () => {
    const release = await makeRelease(server, {}, { isDraft: true });
    await openEdit(page, server, release);
    await box(page, 'Draft Release').uncheck();
    const typed = percentage(page);
    await typed.focus();
    await page.keyboard.type('250');
    await expect(typed).toHaveValue('250');
    await typed.blur();
    await expect(typed).toHaveAccessibleDescription('Must be a whole number from 0 to 100');
    await expect(typed).toHaveValue('250');
    await press(page, 'Save Changes');
    await expect(editing(page)).toBeVisible();

    // A click selects the text, so that typing replaces it.
    await typed.click();
    await page.keyboard.type('5');
    await expect(typed).toHaveValue('5');
    const call = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.keyboard.press('Enter');
    expect((await call).postDataJSON()).toMatchObject({ isDraft: false, rolloutPercentage: 5 });
    await expect(editing(page)).toBeHidden();
    expect((await stored(server, release)).rolloutPercentage).toBe(5);
  });

  await test.step('a release that comes back reaches no more machines than was typed, at any moment', async () => {
    const release = await makeRelease(server, {}, { isActive: false });
    await openEdit(page, server, release);
    await box(page, 'Active Release').check();
    await rollout(page).click();
    await percentage(page).click();
    await page.keyboard.type('5');
    const call = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.keyboard.press('Enter');
    expect((await call).postDataJSON()).toMatchObject({ isActive: true, rolloutPercentage: 5 });
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ isActive: true, rolloutPercentage: 5 });
  });
});

test('publishing, what a colleague sets meanwhile, and a save that fails', async ({ page, server }) => {
  await signInAs(page, 'binary_manager', '/releases', server);

  await test.step('a confirmed publication whose answer is lost may be saved, and is sent again as the same', async () => {
    const release = await makeRelease(server, {}, { isDraft: true });
    const keys: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') keys.push(request.headers()['idempotency-key']);
    });
    await openEdit(page, server, release);
    await box(page, 'Draft Release').uncheck();
    await press(page, 'Everyone');
    const publish = async () => {
      await press(page, 'Save Changes');
      await dialog(page, 'Publish Release').getByRole('button', { name: 'Publish' }).click();
    };
    await loseAnswers(page, releases.update);
    await publish();
    await expect(editing(page).getByRole('alert')).toContainText('Send it again unchanged');
    await page.keyboard.press('Escape');
    const leaving = dialog(page, 'Discard changes?');
    await expect(leaving).toContainText('What you sent may be saved. What you entered since is not.');
    await leaving.getByRole('button', { name: 'Keep Editing' }).click();
    await publish();
    await expect(editing(page)).toBeHidden();
    expect(keys).toEqual([expect.any(String), keys[0]]);
  });

  await test.step('publishing asks how many users, and names the machines before it goes to all', async () => {
    const release = await makeRelease(server, { version: '90.1.0', channel: 'alpha' }, { isDraft: true });
    await report(
      server,
      [1, 2, 3].map((n) => ({
        machineId: `reached-${n}`,
        eventType: 'check',
        channel: 'alpha',
        platform: 'win32',
        architecture: 'x64',
        fromVersion: '1.0.0',
      })),
    );
    await openEdit(page, server, release);
    await box(page, 'Draft Release').uncheck();
    await expect(rollout(page)).toHaveAttribute('aria-expanded', 'true');
    await expect(percentage(page)).toHaveValue('');
    await press(page, 'Save Changes');
    await expect(editing(page).getByText('Choose how many users are offered this release')).toBeVisible();
    await press(page, 'Everyone');
    await expect(percentage(page)).toHaveValue('100');
    await press(page, 'Save Changes');
    const question = dialog(page, 'Publish Release');
    await expect(question).toContainText(
      `Offer version 90.1.0 (alpha) for Windows (x64) to all users at once?`,
    );
    await expect(question).toContainText(
      '3 machines of this platform, architecture and channel will be offered it',
    );
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(question).toBeHidden();
    await expect(editing(page)).toBeVisible();
    expect(await stored(server, release)).toMatchObject({ isDraft: true });
    await press(page, 'Save Changes');
    await question.getByRole('button', { name: 'Publish' }).click();
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ isDraft: false, rolloutPercentage: 100 });
  });

  await test.step('the rollout that a colleague has set meanwhile is overwritten by nobody who does not see it', async () => {
    const release = await makeRelease(server, {}, { rolloutPercentage: 5 });
    const params = { releaseId: release.id };
    const conflict = dialog(page, 'Someone else changed this meanwhile');
    const typeRollout = async (to: string) => {
      await unfoldRollout(page);
      await percentage(page).press('ControlOrMeta+A');
      await page.keyboard.type(to);
      await press(page, 'Save Changes');
    };
    expectStatus(page, 409);
    await openEdit(page, server, release);
    await server.admin.ok(releases.rollout, { params, body: { percentage: 1 } });
    await field(page, 'Release Notes').fill('Mine');
    await typeRollout('50');
    await expect(rowOf(conflict, 'Rollout')).toContainText('1 %50 %');
    expect((await stored(server, release)).rolloutPercentage).toBe(1);
    await conflict.getByRole('button', { name: 'Keep Theirs' }).click();
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 1, releaseNotes: 'Mine' });

    // Theirs are notes alone: the own percentage is saved.
    await openEdit(page, server, release);
    const notes = { releaseNotes: 'Theirs' };
    await server.admin.ok(releases.update, { params, body: notes });
    await field(page, 'Release Notes').fill('Mine again');
    await typeRollout('50');
    await expect(rowOf(conflict, 'Release Notes')).toContainText('TheirsMine again');
    await conflict.getByRole('button', { name: 'Keep Theirs' }).click();
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 50, ...notes });

    // A plan that is set between the two calls of the form.
    await openEdit(page, server, release);
    const [sent, letGo] = [page.waitForRequest(/\/rollout\//), await holdBack(page, /\/rollout\//)];
    await typeRollout('70');
    await sent;
    const plan = planOf([50, 24], [80]);
    await server.admin.ok(rollouts.plan, { params, body: { plan, startsAt: null } });
    letGo();
    await expect(rowOf(conflict, 'Rollout')).toContainText('In steps: 50 % for 24 h, 80 %70 %');
    await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 70, rolloutPlan: null });

    // A draft by now, which has none: it is not published by the form, which does not show that.
    await openEdit(page, server, release);
    await server.admin.ok(releases.update, { params, body: { isDraft: true } });
    await typeRollout('75');
    await expect(rowOf(conflict, 'Rollout')).toContainText('None, a draft75 %');
    await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
    await expect(editing(page).getByRole('alert')).toContainText('is disabled for draft releases');
    await press(page, 'Save Changes');
    await expect(rowOf(conflict, 'Rollout')).toContainText('None, a draft75 %');
    await conflict.getByRole('button', { name: 'Keep Theirs' }).click();
    await expect(editing(page)).toBeHidden();
    expect(await stored(server, release)).toMatchObject({ isDraft: true });
  });

  await test.step('a save that fails', async () => {
    await test.step('a change that fails leaves the dialog open with the message', async () => {
      const release = await makeRelease(server);
      expectStatus(page, 500);
      await openEdit(page, server, release);
      await page.route(`**/releases/${release.id}`, (route) =>
        route.fulfill({ status: 500, json: { success: false, error: 'The disk is read-only' } }),
      );
      await field(page, 'Release Notes').fill('Kept in the field');
      const logged = page.waitForEvent('console', (line) => line.type() === 'warning');
      await press(page, 'Save Changes');
      expect((await logged).text()).toBe('Release could not be saved: The disk is read-only');
      await expect(editing(page).getByRole('alert')).toContainText('The disk is read-only');
      await expect(field(page, 'Release Notes')).toHaveValue('Kept in the field');
      await expectAccessible(page);
      await page.unroute(`**/releases/${release.id}`);
      await page.route(`**/releases/${release.id}`, (route) => route.fulfill({ status: 500, json: {} }));
      await press(page, 'Save Changes');
      await expect(editing(page).getByRole('alert')).toContainText('Failed to update release');
      await press(page, 'Cancel');
      await page.getByRole('button', { name: 'Discard' }).click();
      await expect(editing(page)).toBeHidden();
    });

    await test.step('what is saved although the rollout is not is said, also when the dialog is left', async () => {
      const release = await makeRelease(server, {}, { rolloutPercentage: 5 });
      expectStatus(page, 500);
      await openEdit(page, server, release);
      await page.route(`**/rollout/${release.id}`, (route) => route.fulfill({ status: 500, json: {} }));
      await field(page, 'Release Notes').fill('Saved');
      await percentage(page).fill('7');
      await press(page, 'Save Changes');
      await expect(editing(page).getByRole('alert')).toHaveText(
        'The other changes are saved, the rollout is not: Failed to update release',
      );
      expect(await stored(server, release)).toMatchObject({ releaseNotes: 'Saved', rolloutPercentage: 5 });
      await page.keyboard.press('Escape');
      const leaving = dialog(page, 'Discard changes?');
      await expect(leaving).toContainText('What you sent may be saved. What you entered since is not.');
      await leaving.getByRole('button', { name: 'Keep Editing' }).click();
      await page.route(`**/releases/${release.id}`, (route) => route.fulfill({ status: 500, json: {} }));
      await field(page, 'Release Notes').fill('Later');
      await press(page, 'Save Changes');
      await expect(editing(page).getByRole('alert')).toHaveText('Failed to update release');
      await page.unroute(`**/releases/${release.id}`);
      await page.unroute(`**/rollout/${release.id}`);
      await loseAnswers(page, releases.rollout);
      await press(page, 'Save Changes');
      await expect(editing(page).getByRole('alert')).toHaveText(
        /^The other changes are saved: The server cannot be reached\. Your change may have been applied/,
      );
    });
  });
});

test('who may not manage rollouts changes releases, but neither publishes nor changes what is offered', async ({
  page,
  server,
}) => {
  const release = await makeRelease(server, {}, { isMandatory: true });
  const permissions = (['read', 'create', 'update'] as const).map(
    (action) => ({ resource: 'releases', action }) as const,
  );
  await signInHolding(page, permissions, `/releases?edit=${release.id}`, server);
  const reason =
    'You may neither publish nor change what machines are offered: that needs rollouts:create or rollouts:update.';
  await expect(editing(page).getByText(reason)).toBeVisible();
  for (const locked of [
    box(page, 'Mandatory Update'),
    editing(page).getByRole('combobox', { name: 'Channel' }),
    field(page, 'Minimum App Version'),
  ])
    await expect(locked).toBeDisabled();
  await box(page, 'Draft Release').check();
  await box(page, 'Draft Release').uncheck();
  await expect(box(page, 'Mandatory Update')).toBeChecked();
  await field(page, 'Release Notes').fill('Said more clearly');
  await press(page, 'Save Changes');
  await expect(editing(page)).toBeHidden();
  expect(await stored(server, release)).toMatchObject({
    isDraft: false,
    isMandatory: true,
    releaseNotes: 'Said more clearly',
  });

  await page.getByRole('button', { name: 'New Release' }).click();
  const upload = dialog(page, 'Upload New Release');
  await expect(upload.getByRole('checkbox', { name: 'Draft Release' })).toBeDisabled();
  await expect(upload.getByText(reason)).toBeVisible();
});
