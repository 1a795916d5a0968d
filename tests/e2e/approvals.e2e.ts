import { approvals } from '../../contract/approvals.ts';
import { permit } from '../../contract/permissions.ts';
import { releases } from '../../contract/releases.ts';
import { password } from '../api-client.ts';
import { holdBack } from './hold-back.ts';
import { program } from '../binaries.ts';
import { fileOnDisk, makeRelease } from './releases.ts';
import { editing, unfoldRollout } from './releases-screen.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  heading,
  signInAs,
  signInHolding,
  test,
  type Page,
} from './support.ts';

const asking = (page: Page) => page.getByRole('dialog', { name: 'Ask a Second Person' });
const approving = (page: Page) => page.getByRole('dialog', { name: /^Approve Change/ });
const channels = (page: Page) => page.getByRole('region', { name: 'Channels' });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const approve = async (page: Page) => {
  await press(page, 'Approve');
  await approving(page).getByLabel('Your Password').fill(password);
  await approving(page).getByRole('button', { name: 'Approve' }).click();
  await expect(approving(page)).toBeHidden();
};

test('a channel requires approvals when a second person agrees, and a publication waits for one', async ({
  page,
  otherPage,
  freshServer: server,
}) => {
  expectStatus(page, 409);
  expectStatus(otherPage, 401);
  await test.step('the setting itself is asked for', async () => {
    await signInAs(page, 'binary_manager', '/releases', server);
    await page.getByRole('link', { name: 'Approvals' }).click();
    await expect(page.getByRole('heading', { name: 'Nothing waits for approval' })).toBeVisible();
    await press(page, 'Require Approval on stable');
    await expect(asking(page)).toContainText('Channel stable: require the approval of a second person.');
    await expectAccessible(page);
    await asking(page).getByRole('button', { name: 'Ask' }).click();
    await expect(page.getByText('Somebody else must approve your request.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Approve', exact: true })).toHaveCount(0);
    await expectAccessible(page);
    await press(page, 'Withdraw');
    await expect(page.getByRole('heading', { name: 'Nothing waits for approval' })).toBeVisible();
    await press(page, 'Require Approval on stable');
    await asking(page).getByRole('button', { name: 'Ask' }).click();
    await expect(page.getByRole('button', { name: 'Withdraw' })).toBeVisible();
    await page.goto(`${server.url}/releases/approvals?waiting=1`);
    await expect(page.getByRole('heading', { name: 'Nothing waits for your approval' })).toBeVisible();
  });

  await test.step('the second person is told on every screen, and needs the password', async () => {
    await signInAs(otherPage, 'admin', '/licenses', server);
    await expect(otherPage.getByText('binary_manager@lanyard.test asks for your approval.')).toBeVisible();
    await otherPage.getByRole('link', { name: 'Review' }).click();
    await press(otherPage, 'Approve');
    await expectAccessible(otherPage);
    const own = approving(otherPage).getByRole('textbox', { name: 'Your Password' });
    await own.press('Enter');
    await expect(own).toHaveAccessibleDescription('Please enter your current password');
    await own.fill('wrong');
    await approving(otherPage).getByRole('button', { name: 'Approve' }).click();
    await expect(own).toHaveAccessibleDescription('The current password is not right.');
    await approving(otherPage).getByLabel('Your Password').fill(password);
    await approving(otherPage).getByRole('button', { name: 'Approve' }).click();
    await expect(channels(otherPage).getByRole('listitem').first()).toContainText('Two people');
    await expect(otherPage.getByRole('region', { name: 'Last 7 days' })).toContainText('Approved');
  });

  const release = await makeRelease(server, { version: '3.1.0' }, { isDraft: true });
  await test.step('a form keeps what was typed, until it was asked for', async () => {
    await goTo(page, `/releases?edit=${release.id}`);
    const notes = editing(page).getByRole('textbox', { name: 'Release Notes' });
    await notes.fill('Faster');
    await editing(page).getByRole('checkbox', { name: 'Draft Release' }).uncheck();
    await unfoldRollout(page);
    await editing(page).getByRole('textbox', { name: 'Rollout percentage in numbers' }).fill('5');
    await editing(page).getByRole('button', { name: 'Save Changes' }).click();
    await expect(asking(page)).toContainText('publish at 5 %');
    await asking(page).getByRole('button', { name: 'Cancel' }).click();
    await expect(notes).toHaveValue('Faster');
    await editing(page).getByRole('button', { name: 'Save Changes' }).click();
    await asking(page).getByRole('button', { name: 'Ask' }).click();
    await expect(editing(page)).toBeHidden();
    const { isDraft } = await server.admin.ok(releases.get, { params: { releaseId: release.id } });
    expect(isDraft).toBe(true);
  });

  await test.step('the form of a new release says before the upload that it must be a draft', async () => {
    await goTo(page, '/releases?dialog=create');
    const form = dialog(page, 'Upload New Release');
    const draft = form.getByRole('checkbox', { name: 'Draft Release' });
    await form.locator('input[type=file]').setInputFiles(await fileOnDisk('Draft-5.0.0.exe', program(2000)));
    await draft.uncheck();
    await expect(form.getByText('Publishing on stable needs the approval of a second person.')).toBeVisible();
    await form.getByRole('button', { name: 'Upload Release' }).click();
    await expect(draft).toBeFocused();
    await expect(draft).toHaveAttribute('aria-invalid', 'true');
    await expect(draft).toHaveAccessibleDescription(/needs the approval of a second person/);
    await expectAccessible(page);
    await draft.check();
    await expect(draft).toHaveAttribute('aria-invalid', 'false');
  });

  await test.step('who may roll out sees it; without a permission of the call, they may only decline it', async () => {
    await press(otherPage, 'Logout');
    await expect(heading(otherPage, 'Sign in')).toBeVisible();
    await signInHolding(
      otherPage,
      [permit('releases', 'read'), permit('rollouts', 'update')],
      '/releases',
      server,
    );
    await otherPage.getByRole('link', { name: 'Approvals' }).click();
    await expect(otherPage.getByRole('button', { name: 'Decline' })).toBeEnabled();
    await expect(otherPage.getByRole('button', { name: 'Approve', exact: true })).toHaveAccessibleDescription(
      'You may not make this change',
    );
    await expectAccessible(otherPage);
  });

  await test.step('the palette finds it', async () => {
    await signInAs(otherPage, 'admin', '/customers', server);
    await expect(otherPage.getByText('asks for your approval.')).toBeVisible();
    await otherPage.keyboard.press('Control+k');
    await otherPage.getByRole('combobox', { name: 'Type a command or search' }).fill('3.1.0');
    await otherPage.getByRole('option', { name: /3\.1\.0 .*publish at 5 %/ }).click();
    await approve(otherPage);
    const { isDraft, rolloutPercentage, releaseNotes } = await server.admin.ok(releases.get, {
      params: { releaseId: release.id },
    });
    expect([isDraft, rolloutPercentage, releaseNotes]).toEqual([false, 5, 'Faster']);
  });

  await test.step('a request can be declined, with a reason', async () => {
    await goTo(page, `/releases?edit=${release.id}`);
    await unfoldRollout(page);
    await editing(page).getByRole('textbox', { name: 'Rollout percentage in numbers' }).fill('100');
    await editing(page).getByRole('button', { name: 'Save Changes' }).click();
    await dialog(page, 'Offer to More Users').getByRole('button', { name: 'Offer' }).click();
    await expect(asking(page)).toContainText('widen from 5 % to 100 %');
    await asking(page).getByRole('button', { name: 'Ask' }).click();
    await expect(editing(page)).toBeHidden();
    await otherPage.reload();
    await press(otherPage, 'Decline');
    await otherPage.getByRole('textbox', { name: 'Reason' }).fill('Not on Friday');
    await dialog(otherPage, 'Decline Change').getByRole('button', { name: 'Decline' }).click();
    await page.goto(`${server.url}/releases/approvals`);
    await expect(page.getByRole('region', { name: 'Last 7 days' })).toContainText(
      'declined by admin@lanyard.test: Not on Friday',
    );
    await expectAccessible(page);
  });

  await test.step('approval that was asked for late ends no other offer, and closes no form', async () => {
    await server.db.updateTable('channel_approvals').set({ required: true }).execute();
    await page.reload();
    const isAsked = (url: URL) => url.pathname === approvals.ask.path;
    const begun = page.waitForRequest(
      (one) => one.method() === approvals.ask.method && isAsked(new URL(one.url())),
    );
    const answer = await holdBack(page, isAsked, approvals.ask.method);
    await press(page, 'Stop Requiring Approval on stable');
    await press(page, 'Ask');
    await begun;
    await page.keyboard.press('Escape');
    await expect(asking(page)).toBeHidden();
    await press(page, 'Stop Requiring Approval on beta');
    await expect(asking(page)).toContainText('Channel beta');
    answer();
    await expectSaid(page, 'Approval requested');
    await expect(asking(page)).toContainText('Channel beta');
  });
});
