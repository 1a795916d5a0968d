import { notices } from '../../contract/notices.ts';
import { releases } from '../../contract/releases.ts';
import { rollouts } from '../../contract/rollouts.ts';
import { session } from '../../contract/session.ts';
import { eventually } from '../time.ts';
import { every } from '../../web/live.ts';
import { patternOf } from './calls.ts';
import { holdBack } from './hold-back.ts';
import { expectNoShift, observe, twoFrames } from './observe.ts';
import { makeRelease, report, takeUpdate } from './releases.ts';
import {
  chooseInMenu,
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
import { row, stored } from './releases-screen.ts';

test('a rollout whose installs fail pauses itself, says why, and goes on when resumed', async ({
  page,
  server,
}) => {
  // no other test publishes for Windows on x86
  const release = await makeRelease(
    server,
    { architecture: 'ia32', version: '41.66.7' },
    { rolloutPercentage: 50, acceptableFailures: 1 },
  );
  const build = `${release.version} (stable) for Windows (x86)`;
  await page.clock.install();
  await signInAs(page, 'binary_manager', '/analytics', server);
  const banner = page
    .locator('[data-notice]')
    .filter({ hasText: `Rollout of ${build} paused itself at 50 %.` });
  await expect(page.getByRole('heading', { name: 'License Analytics' })).toBeVisible();
  await expect(banner).toHaveCount(0);
  const notice = page.getByRole('region', { name: `Rollout of ${build} paused` });
  const machines = await takeUpdate(server, release, 5);
  await report(
    server,
    machines.map((machineId, index) => ({
      machineId,
      eventType: index < 3 ? ('install_error' as const) : ('install_complete' as const),
      releaseId: release.id,
    })),
  );
  await eventually(async () => (await stored(server, release)).pausedAt !== null);
  await test.step('which every screen says within half a minute', async () => {
    await page.clock.fastForward(every);
    await expect(banner).toContainText('3 of 5 installs of 41.66.7');
    await expectAccessible(page);
    await banner.getByRole('link', { name: 'View releases' }).click();
    await expect(page.getByRole('heading', { name: 'Release Management' })).toBeVisible();
    await expect(banner).toHaveCount(0);
  });
  await test.step('and which moves no screen that opens, however late it comes', async () => {
    await observe(page);
    for (const [path, said] of [
      ['/analytics', banner],
      ['/customers', banner],
      ['/releases', notice],
    ] as const) {
      const restored = page.waitForResponse(`**${session.me.path}`);
      await page.route(`**${notices.list.path}`, async (route) => {
        await restored;
        await twoFrames(page);
        await route.continue();
      });
      await page.goto(path);
      await expect(said).toBeVisible();
      await quiet(page);
      await twoFrames(page);
      await expectNoShift(page, path);
      await page.unroute(`**${notices.list.path}`);
    }
  });
  await page.getByPlaceholder('Search version or notes...').fill(release.version);
  await expect(notice).toContainText(`Rollout of ${build} is paused at 50 %`);
  await expect(notice).toContainText(
    '3 of 5 installs of 41.66.7 for Windows (x86) failed (60.0 %). 1 % are acceptable.',
  );
  await expect(notice).toContainText(/Paused (just now|\d minutes? ago)\./);
  await expect(row(page, release)).toContainText('Paused');
  // the rows of the previous search are dimmed while the next ones load, which starts after the last keystroke
  await expect(page).toHaveURL(/search=/);
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);

  await test.step('also when so many newer builds stand above it that it is on no page shown', async () => {
    const empty = {
      total: 0,
      limit: 100,
      offset: 0,
      totalReleases: 0,
      activeReleases: 0,
      uniqueVersions: 0,
      storageBytes: 0,
    };
    const calls = `**${releases.list.path}?*`;
    await page.route(calls, (route) => route.fulfill({ json: { success: true, data: [], meta: empty } }));
    await page.reload();
    await expect(page.getByText('No releases found matching your filters.')).toBeVisible();
    await expect(notice).toContainText(`Rollout of ${build} is paused at 50 %`);
    await page.unroute(calls);
    await page.reload();
  });

  await notice.getByRole('button', { name: 'Resume' }).click();
  const question = dialog(page, 'Resume Rollout');
  await expect(question).toContainText(
    `Offer version ${release.version} to 50 % of users again? Failures are counted from 0 again.`,
  );
  await question.getByRole('button', { name: 'Resume' }).click();
  await expectSaid(page, `Rollout of ${release.version} resumed`);
  await expect(notice).toBeHidden();
  await expect(row(page, release)).not.toContainText('Paused');
  expect(await stored(server, release)).toMatchObject({ pausedAt: null, rolloutPercentage: 50 });
});

test('a rollout is paused by hand, keeps its percentage, and goes on', async ({ page, server }) => {
  const release = await makeRelease(server, {}, { rolloutPercentage: 30 });
  await signInAs(page, 'binary_manager', `/releases?search=${release.version}`, server);
  await chooseInMenu(row(page, release), 'Pause');
  const question = dialog(page, 'Pause Rollout');
  await expect(question).toContainText('It keeps its 30 % for when it is resumed.');
  await question.getByRole('textbox', { name: 'Reason' }).fill('A hospital reports crashes');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Pause' }).click();
  const notice = page.getByRole('region', { name: `Rollout of ${release.version}` });
  await expect(notice).toContainText('is paused at 30 %');
  await expect(notice).toContainText(/A hospital reports crashes\. Paused by binary_manager\S* just now\./);
  expect(await stored(server, release)).toMatchObject({
    rolloutPercentage: 30,
    pauseReason: 'A hospital reports crashes',
  });
  await notice.getByRole('link', { name: release.version }).click();
  await expect(page.getByText('At 30 %, offered to no machine until it is resumed.')).toBeVisible();
  await expect(page.getByRole('img', { name: 'Rollout 30 %, paused' })).toBeVisible();
  const setDamaged = (at: Date | null) =>
    server.db.updateTable('releases').set({ damaged_at: at }).where('release_id', '=', release.id).execute();
  await setDamaged(new Date());
  await page.reload();
  await expect(page.getByText('At 30 %, offered to no machine: its file is damaged')).toBeVisible();
  await setDamaged(null);
  await page.goBack();
  await chooseInMenu(row(page, release), 'Resume');
  await expect(dialog(page, 'Resume Rollout')).toContainText('Failures from before the pause still count.');
  // a colleague changes the percentage under the question
  expectStatus(page, 409);
  await server.admin.ok(releases.rollout, {
    params: { releaseId: release.id },
    body: { percentage: 100 },
  });
  await dialog(page, 'Resume Rollout').getByRole('button', { name: 'Resume' }).click();
  await expect(dialog(page, 'Resume Rollout')).toContainText(
    'This release was changed since you saw it. Look at it again.',
  );
  await dialog(page, 'Resume Rollout').getByRole('button', { name: 'Cancel' }).click();
  await expect(notice).toContainText('is paused at 100 %');
  await chooseInMenu(row(page, release), 'Resume');
  await expect(dialog(page, 'Resume Rollout')).toContainText('No machine runs this version yet.');
  // who wants to pause what has paused itself a moment ago types a reason, whose spaces press a button
  await page.keyboard.type('It still fails there');
  await quiet(page);
  await expect(dialog(page, 'Resume Rollout')).toBeVisible();
  await dialog(page, 'Resume Rollout').getByRole('button', { name: 'Resume' }).click();
  await expect(notice).toBeHidden();
  expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 100, pausedAt: null });
});

test('a button of a release, and an item of its menu, ask what they stood for when they were pressed', async ({
  page,
  server,
}) => {
  const release = await makeRelease(server, {}, { rolloutPercentage: 5 });
  const params = { releaseId: release.id };
  await signInAs(page, 'binary_manager', `/releases/${release.id}`, server);
  const press = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true });
  await expect(press('Pause')).toBeVisible();
  const answer = await holdBack(page, (url) => patternOf(rollouts.progress.path).test(url.pathname));
  await press('Refresh').click();
  await press('Pause').hover();
  await page.mouse.down();
  await server.admin.ok(releases.pause, { params, body: { reason: 'A hospital reports crashes' } });
  answer();
  await expect(press('Resume')).toBeVisible();
  await page.mouse.up();
  // not whether to resume it
  await expect(page.getByRole('dialog')).toHaveAccessibleName('Pause Rollout');

  await server.admin.ok(releases.resume, { params });
  await goTo(page, `/releases?search=${release.version}`);
  await row(page, release).getByRole('button', { name: 'More actions' }).click();
  const item = (name: string) => page.getByRole('menuitem', { name });
  await expect(item('Pause')).toBeVisible();
  const listed = await holdBack(page, (url) => patternOf(releases.list.path).test(url.pathname));
  await comeBack(page);
  await item('Pause').hover();
  await page.mouse.down();
  await server.admin.ok(releases.pause, { params, body: { reason: 'A hospital reports crashes' } });
  listed();
  await expect(item('Resume')).toBeVisible();
  await page.mouse.up();
  await expect(page.getByRole('dialog')).toHaveAccessibleName('Pause Rollout');
});
