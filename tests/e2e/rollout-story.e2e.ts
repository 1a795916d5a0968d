import { inLanes } from '../in-lanes.ts';
import { releases, type Release } from '../../contract/releases.ts';
import { displayIdOf } from '../../server/features/update-events/index.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn } from '../factories.ts';
import { eventually, hours, password } from '../harness.ts';
import { makeRelease, report } from './releases.ts';
import { type } from './releases-screen.ts';
import { chooseInMenu, dialog, expect, expectStatus, rowOf, signInAs, test, type Page } from './support.ts';

const machineIds = Array.from({ length: 160 }, (_, n) => `machine-${n}`);
const lane = { platform: 'win32', architecture: 'x64', channel: 'stable' } as const;
const timeIn = (n: number) => new Date(Date.now() + hours(n)).toISOString().slice(11, 16);

/** Publishes a draft in two steps, from the keyboard. */
async function publish(page: Page, release: Release, url: string) {
  await page.goto(`${url}/releases?edit=${release.id}`);
  const form = page.getByRole('dialog', { name: /^Edit Release/ });
  await form.getByRole('checkbox', { name: 'Draft Release' }).uncheck();
  await form.getByText('In steps', { exact: true }).click();
  await type(page, 'Percentage of step 1', '50');
  await type(page, 'Hours of step 1', '24');
  await form.getByRole('button', { name: 'Remove step 2' }).click();
  await type(page, 'Acceptable failures', '2');
  await expect(form.getByRole('status')).toContainText('50 % for 24 h, 100 %.');
  await form.getByRole('button', { name: 'Save Changes' }).click();
  return form;
}

test('a bad release is paused and withdrawn, its fix takes two people, and hospitals decide', async ({
  page,
  otherPage,
  freshServer: server,
}) => {
  expectStatus(page, 409);
  const { headers } = await makeApiKey(server.admin, { scopes: ['updates'] });
  const hospitals = { pinned: 'St. Pin', waiting: 'Night Clinic' };
  for (const [machineId, name] of Object.entries(hospitals)) {
    const { customerId } = await makeCustomer(server.admin, { name });
    await validateOn(server.admin, await makeLicense(server.admin, { customerId }), machineId);
    await report(server, [{ machineId, ...lane, eventType: 'check', fromVersion: '4.1.0' }]);
  }
  await makeRelease(server, { version: '4.1.0' });
  const broken = await makeRelease(server, { version: '4.2.0' }, { isDraft: true });

  await test.step('two hospitals get their policies', async () => {
    await signInAs(page, 'super_admin', '/customers', server);
    const form = dialog(page, 'Update Policy');
    await chooseInMenu(rowOf(page, hospitals.pinned), 'Updates');
    await type(page, 'Pinned Version', '4.1.');
    await form.getByRole('button', { name: 'Save Policy' }).click();
    await expect(form).toBeHidden();
    await chooseInMenu(rowOf(page, hospitals.waiting), 'Updates');
    await form.getByRole('combobox', { name: 'Maintenance Windows' }).click();
    await page.getByRole('option', { name: 'Only in these windows' }).click();
    await type(page, 'From, window 1', timeIn(6));
    await type(page, 'To, window 1', timeIn(8));
    await form.getByRole('button', { name: 'Save Policy' }).click();
    await expect(form).toBeHidden();
  });

  await test.step('a release is published by plan, and fails on 15 % of the machines', async () => {
    await signInAs(page, 'binary_manager', '/releases', server);
    await expect(await publish(page, broken, server.url)).toBeHidden();
    const feed = `${server.url}/api/v1/updates/electron/win32/x64/latest.yml`;
    const offered: string[] = [];
    const update = async (machineId: string) => {
      const as = { ...headers, 'x-machine-id': machineId };
      const text = await (await fetch(feed, { headers: { ...as, 'x-app-version': '4.1.0' } })).text();
      if (!text.includes('version: "4.2.0"')) return;
      offered.push(machineId);
      const file = await fetch(server.url + new URL(broken.fileUrl).pathname, { headers: as });
      expect((await file.arrayBuffer()).byteLength).toBe(broken.fileSize);
    };
    await inLanes(machineIds, update, 32);
    expect(offered.length).toBeGreaterThan(40);
    const outcome = { ...lane, releaseId: broken.id, fromVersion: '4.1.0', toVersion: '4.2.0' };
    await report(
      server,
      offered.slice(0, 40).map((machineId, n) => ({
        machineId,
        ...outcome,
        eventType: [6, 12, 19].includes(n % 20) ? 'install_error' : 'install_complete',
      })),
    );
    const at = { params: { releaseId: broken.id } };
    await eventually(async () => (await server.admin.ok(releases.get, at)).pausedAt !== null);
  });

  await test.step('the pause says why, and the release is withdrawn', async () => {
    await page.goto(`${server.url}/releases`);
    const paused = page.getByRole('region', { name: /^Rollout of 4\.2\.0 .* paused$/ });
    await expect(paused).toContainText('is paused at 50 %');
    await expect(paused).toContainText(
      '6 of 40 installs of 4.2.0 for Windows (x64) failed (15.0 %). 2 % are acceptable.',
    );
    await paused.getByRole('button', { name: 'Withdraw' }).click();
    const question = dialog(page, 'Withdraw Release');
    await expect(question).toContainText('34 machines run this version and keep it.');
    await question.getByRole('textbox', { name: 'Reason' }).pressSequentially('Crashes at start');
    await question.getByRole('button', { name: 'Withdraw' }).click();
    const withdrawn = dialog(page, 'Release withdrawn');
    await expect(withdrawn).toContainText('34 machines have it already:');
    await expect(withdrawn.getByRole('listitem')).toHaveCount(34);
    await withdrawn.getByRole('button', { name: 'Close', exact: true }).last().click();
  });

  const fixed = await makeRelease(server, { version: '4.2.1' }, { isDraft: true });
  await test.step('the fix is published by two people', async () => {
    await server.db.updateTable('channel_approvals').set({ required: true }).execute();
    const form = await publish(page, fixed, server.url);
    const asking = dialog(page, 'Ask a Second Person');
    await expect(asking).toContainText('publish with the plan 50 % for 24 h, 100 %');
    await asking.getByRole('button', { name: 'Ask' }).click();
    await expect(form).toBeHidden();
    await signInAs(otherPage, 'admin', '/releases/approvals', server);
    await otherPage.getByRole('button', { name: 'Approve', exact: true }).click();
    const approving = otherPage.getByRole('dialog', { name: /^Approve Change/ });
    await approving.getByLabel('Your Password').pressSequentially(password);
    await approving.getByRole('button', { name: 'Approve' }).click();
    await expect(approving).toBeHidden();
    await page.goto(`${server.url}/releases/${fixed.id}`);
    await expect(page.getByText('Offered to 50 % of machines, step 1 of 2.')).toBeVisible();
  });

  await test.step('the pages of the machines say what their hospitals decided', async () => {
    const why = async (machineId: string) => {
      await page.goto(`${server.url}/machines/${displayIdOf(machineHashOf(machineId))}`);
      return page.getByRole('row', { name: '4.2.1' });
    };
    await expect(await why('pinned')).toContainText(
      'The policy of St. Pin pins it to 4.1.; this release is outside.',
    );
    await expect(await why('waiting')).toContainText(
      /The policy of Night Clinic allows updates every day .* \(.*UTC\); at .* UTC that is closed\./,
    );
  });
});
