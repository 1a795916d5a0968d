import {
  hasPermission,
  permit,
  roleMatrix,
  roleNames,
  type Action,
  type Resource,
} from '../../contract/permissions.ts';
import { noPolicy, policies } from '../../contract/policies.ts';
import { session } from '../../contract/session.ts';
import { rbac, users } from '../../contract/users.ts';
import { toastDuration } from '../../web/ui/toast.tsx';
import { makeApiKey, makeCustomer, makeHolder, makeLicense, revoke, softDelete } from '../factories.ts';
import { makeRelease } from './releases.ts';
import { newWord, row } from './releases-screen.ts';
import {
  chooseInMenu,
  comeBack,
  dialog,
  expect,
  expectStatus,
  goByKeys,
  goTo,
  heading,
  navigation,
  type Page,
  prolong,
  quiet,
  rowOf,
  signInAs,
  signInByForm,
  signInHolding,
  test,
} from './support.ts';
import { makeUser } from './users-screen.ts';

/** The links of the console after Today, in order: their targets, and the permission that each needs. */
const links = {
  Licenses: ['/licenses', 'licenses'],
  Customers: ['/customers', 'customers'],
  Analytics: ['/analytics', 'analytics'],
  Releases: ['/releases', 'releases'],
  Machines: ['/machines', 'releases'],
  Users: ['/users', 'users'],
  'Audit Log': ['/audit', 'audit'],
  'API Keys': ['/api-keys', 'api_keys'],
} as const satisfies Record<string, [path: string, resource: Resource]>;

test('every role begins where it may, sees the links and buttons that it may use, and asks for nothing else', async ({
  page,
  server,
}) => {
  await makeLicense(server.admin);
  const shown = () =>
    navigation(page)
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href')]));
  const offered = async (...buttons: string[]) => {
    const counts = buttons.map((name) => page.getByRole('button', { name, exact: true }).count());
    return (await Promise.all(counts)).map((count) => count > 0);
  };
  // The button of the page, not the one of an empty list.
  const creates = page.locator('[data-hotkey="c"]');
  for (const role of roleNames.filter((name) => name !== 'service_account')) {
    await test.step(role, async () => {
      const may = (resource: Resource, action: Action) =>
        hasPermission(roleMatrix[role], permit(resource, action));
      await signInAs(page, role, '/', server);
      const readable = Object.entries(links).filter(([, [, resource]]) => may(resource, 'read'));
      const hidden = Object.entries(links).filter(([, [, resource]]) => !may(resource, 'read'));
      await expect(page).toHaveURL(readable[0]![1][0]);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      expect(await shown()).toEqual([['Today', '/today'], ...readable.map(([link, [path]]) => [link, path])]);
      await expect(creates).toHaveText(may('licenses', 'create') ? ['Create License'] : []);
      if (may('licenses', 'read')) {
        // the header of that column is a button, too
        const rows = page.locator('tbody');
        await expect(rows.getByRole('button', { name: 'Activations', exact: true }).first()).toBeVisible();
        const update = may('licenses', 'update');
        expect(await offered('Edit', 'Revoke')).toEqual([update, update]);
      } else {
        await goTo(page, '/licenses');
        await expect(heading(page, 'You may not see this screen')).toBeVisible();
        await expect(page.getByText('It needs the permission licenses:read.')).toBeVisible();
      }
      // Users with all permissions make no call that is refused.
      for (const [link] of may('users', 'read') ? [] : readable) {
        await navigation(page).getByRole('link', { name: link, exact: true }).click();
        await expect(navigation(page).getByRole('link', { name: link, exact: true })).toHaveAttribute(
          'aria-current',
          'page',
        );
        await quiet(page);
        await expect(page.getByText(/lacks? the permission/)).toHaveCount(0);
        await expect(page.getByRole('alert')).toHaveCount(0);
        const targets = page.getByRole('main').getByRole('link');
        const followed = await targets.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
        const refused = followed.filter((to) =>
          hidden.some(([, [path]]) => to.split(/[/?]/)[1] === path.slice(1)),
        );
        expect(refused, `links of ${link}`).toEqual([]);
      }
      if (!may('customers', 'read')) return;
      await navigation(page).getByRole('link', { name: 'Customers' }).click();
      await expect(page.getByRole('link', { name: /^Soft Deleted \(\d+\)$/ })).toBeVisible();
      await expect(creates).toHaveText(may('customers', 'create') ? ['Create Customer'] : []);
      expect(await offered('Edit', 'Delete')).toEqual([
        may('customers', 'update'),
        may('customers', 'delete'),
      ]);
    });
  }
});

test('of the rights that roles hold only together, each shows its own buttons', async ({ page, server }) => {
  await revoke(server.admin, await makeLicense(server.admin));
  await makeLicense(server.admin);
  const customer = await makeCustomer(server.admin);
  await makeRelease(server);
  const releaseNotes = newWord();
  const release = await makeRelease(server, {}, { releaseNotes });
  await makeApiKey(server.admin);
  const creates = page.locator('[data-hotkey="c"]');
  const rows = page.locator('tbody');
  for (const held of ['create', 'update'] as const) {
    await test.step(held, async () => {
      const permissions = (['customers', 'licenses', 'releases', 'api_keys'] as const).flatMap((resource) =>
        (['read', held, 'delete'] as const).map((action) => ({ resource, action })),
      );
      await signInHolding(page, permissions, '/customers', server);
      const mayUpdate = held === 'update';
      const expectButtons = async (path: string, create: string, buttons: Record<string, boolean>) => {
        await goTo(page, path);
        await expect(rows.getByRole('button').first()).toBeVisible();
        await quiet(page);
        await expect(creates).toHaveText(mayUpdate ? [] : [create]);
        for (const [name, isShown] of Object.entries(buttons)) {
          // a release's button names its build, too
          const found = rows.getByRole('button', { name: new RegExp(`^${name}( |$)`) });
          expect((await found.count()) > 0, `${name} at ${path}`).toBe(isShown);
        }
      };
      await expectButtons('/customers', 'Create Customer', { Edit: mayUpdate, Delete: true });
      await expectButtons('/licenses', 'Create License', { Edit: mayUpdate, Revoke: mayUpdate });
      await expectButtons('/licenses?tab=revoked', 'Create License', { Reactivate: mayUpdate });
      await expectButtons('/releases', 'New Release', { Edit: mayUpdate, Delete: true });
      await expectButtons('/api-keys', 'Create API Key', { View: true, Edit: mayUpdate, Revoke: true });
      if (!mayUpdate) {
        // who may not restore gets no Undo, for as long as the toast stays under the pointer
        const undo = page.getByRole('button', { name: 'Undo' });
        await goTo(page, `/customers?search=${encodeURIComponent(customer.name)}`);
        await rowOf(page, customer.name).getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
        await page.getByText(/^Customer .* deleted$/).hover();
        await expect(undo).toHaveCount(0);
        await goTo(page, `/releases?search=${releaseNotes}`);
        await row(page, release)
          .getByRole('button', { name: /^Delete/ })
          .click();
        await page.getByRole('textbox', { name: 'Reason' }).fill('Wrong build');
        await page.getByRole('button', { name: 'Move to Recycle Bin' }).click();
        await page
          .getByText(`Version ${release.version} (stable) for Windows (x64) moved to recycle bin`)
          .hover();
        await expect(undo).toHaveCount(0);
      }
      await page.getByRole('button', { name: 'Logout' }).click();
      await expect(heading(page, 'Sign in')).toBeVisible();
    });
  }
});

test('who may see a page without a link alone is brought to it', async ({ page, server }) => {
  await signInHolding(page, [{ resource: 'rollouts', action: 'read' }], '/', server);
  await expect(page).toHaveURL('/releases/approvals');
  await expect(heading(page, 'Approvals')).toBeVisible();
  await goTo(page, '/users');
  await page.getByRole('link', { name: 'Go to Approvals' }).click();
  await expect(heading(page, 'Approvals')).toBeVisible();
});

const forbidden = (page: Page) => heading(page, 'You may not see this screen');

test('who may only issue licenses gets a whole form, and leaves it for a screen that they may see', async ({
  page,
  server,
}) => {
  await makeCustomer(server.admin);
  const held = [permit('customers', 'read'), permit('licenses', 'create')];
  await signInHolding(page, held, '/licenses/new', server);
  const module = page.getByRole('group', { name: 'Modules' }).getByRole('checkbox').last();
  await module.check();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Back to Licenses' })).toHaveCount(0);
  await module.uncheck();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(heading(page, 'Customers')).toBeVisible();
  await expect(forbidden(page)).toHaveCount(0);
});

test('a toast names a screen that its reader may not see, and does not lead there', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin);
  const tag = newWord().toLowerCase();
  await server.admin.ok(policies.putOfCustomer, {
    params: { id: customer.customerId },
    body: { ...noPolicy, tags: [tag] },
  });
  const held = [permit('customers', 'read'), permit('rollouts', 'update')];
  await prolong(page, toastDuration, 45_000);
  await signInHolding(page, held, `/customers/${customer.customerId}?tag=${tag}`, server);
  await page.getByLabel('Deferral').fill('3');
  await page.getByRole('button', { name: 'Save Policy' }).click();
  const told = page.getByLabel('Notifications');
  // for as long as it stays under the pointer
  await told.getByText(`Tag ${tag}`).hover();
  await expect(told.getByRole('link')).toHaveCount(0);
});

test('who may empty the audit log by the rule, and not change the rule, finds Clean Up Now', async ({
  page,
  server,
}) => {
  await signInHolding(page, [permit('audit', 'read'), permit('audit', 'delete')], '/audit', server);
  await page.getByRole('button', { name: 'Retention' }).click();
  const retention = dialog(page, 'Retention');
  await expect(retention.getByRole('textbox')).toHaveCount(0);
  await expect(retention.getByRole('button', { name: 'Save' })).toHaveCount(0);
  await retention.getByRole('button', { name: 'Clean Up Now' }).click();
  await expect(dialog(page, 'Clean Up Audit Log')).toBeVisible();
});

test('an admin sees the own sessions in the list of users too', async ({ page, server }) => {
  const { email } = await signInAs(page, 'admin', '/account', server);
  await goTo(page, `/users?search=${email}`);
  await chooseInMenu(rowOf(page, `${email} (you)`), 'Sessions');
  const sessions = page.getByRole('dialog');
  await expect(sessions.getByText('This session')).toBeVisible();
  await expect(sessions.getByText('Only a super admin')).toHaveCount(0);
});

test('a customer whom the user may not see cannot be deleted for good beside its licenses', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  await softDelete(server.admin, customer);
  const held = [permit('licenses', 'read'), permit('customers', 'delete')];
  await signInHolding(page, held, `/licenses?search=${license.licenseKey}`, server);
  const deletion = page.getByRole('button', { name: 'Permanently Delete' });
  await expect(deletion).toHaveAttribute('aria-disabled', 'true');
  await expect(deletion).toHaveAccessibleDescription('You may not see customers');
});

test('after g, the key of a screen that the user may not see does nothing else', async ({ page, server }) => {
  const release = await makeRelease(server);
  await signInAs(page, 'binary_manager', '/releases', server);
  await row(page, release).focus();
  for (const letter of ['c', 'd', 'e']) await goByKeys(page, letter);
  await quiet(page);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('d');
  await expect(dialog(page, 'Delete Release')).toBeVisible();
});

test('who loses a permission is offered what is left, once a screen is refused', async ({ page, server }) => {
  expectStatus(page, 403);
  const { id, email } = await makeUser(server, 'admin');
  await page.goto('/customers');
  await signInByForm(page, email);
  await expect(heading(page, 'Customers')).toBeVisible();
  await server.admin.ok(users.update, { params: { id }, body: { role: 'viewer' } });
  await navigation(page).getByRole('link', { name: 'Users' }).click();
  await expect(heading(page, 'You may not see this screen')).toBeVisible();
  await expect(navigation(page).getByRole('link', { name: 'Users' })).toHaveCount(0);
  await navigation(page).getByRole('link', { name: 'Customers' }).click();
  await expect(heading(page, 'Customers')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create Customer' })).toHaveCount(0);
});

test('a question without input goes with the right that it needs', async ({ page, server }) => {
  const user = await makeUser(server, 'viewer');
  const all = (['read', 'update', 'delete'] as const).map((action) => permit('users', action));
  const { email, role } = await makeHolder(
    server.admin,
    [...all, ...roleMatrix.viewer],
    server.printed.password,
  );
  await page.goto(`/users?search=${user.email}`);
  await signInByForm(page, email);
  await rowOf(page, user.email).getByRole('button', { name: 'Deactivate' }).click();
  await expect(page.getByRole('dialog')).toHaveAccessibleName('Deactivate User');
  const body = { description: 'Some', requiresSecondFactor: false, permissions: [permit('users', 'read')] };
  await server.admin.ok(rbac.updateRole, { params: { roleId: role }, body });
  // as when another tab of the user hears of it
  await page.evaluate(() => new BroadcastChannel('rights').postMessage(null));
  await expect(
    rowOf(page, user.email).getByRole('button', { name: 'Deactivate', includeHidden: true }),
  ).toHaveCount(0);
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('the result of a bulk deletion, with its Undo, stays when another right is lost', async ({
  page,
  server,
}) => {
  const word = newWord();
  const [first] = [
    await makeCustomer(server.admin, { name: `${word} 1` }),
    await makeCustomer(server.admin, { name: `${word} 2` }),
  ];
  const left = (['read', 'update', 'delete'] as const).map((action) => permit('customers', action));
  const { email, role } = await makeHolder(
    server.admin,
    [...left, permit('audit', 'read')],
    server.printed.password,
  );
  await page.goto(`/customers?search=${word}`);
  await signInByForm(page, email);
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await page.getByRole('button', { name: 'Delete Selected' }).click();
  await softDelete(server.admin, first);
  expectStatus(page, 409);
  await page.getByRole('button', { name: 'Confirm' }).click();
  const told = page.getByRole('dialog').getByRole('alert');
  await expect(told).toHaveText('1 customer deleted. 1 customer could not be deleted:');
  const body = { description: 'Some', requiresSecondFactor: false, permissions: left };
  await server.admin.ok(rbac.updateRole, { params: { roleId: role }, body });
  const heard = page.waitForResponse(`**${session.me.path}`);
  await page.evaluate(() => new BroadcastChannel('rights').postMessage(null));
  await heard;
  await quiet(page);
  await expect(told).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rowOf(page, `${word} 2`)).toBeVisible();
});

test('what is typed, and a key that is shown once, stay when a right of the user is lost', async ({
  page,
  server,
}) => {
  expectStatus(page, 403);
  const { id, email } = await makeUser(server, 'admin');
  // with the password of the administrator, who may have signed in more than five minutes ago
  const become = (role: string) =>
    server.admin.ok(users.update, {
      params: { id },
      body: { role, currentPassword: server.printed.password },
    });
  await page.goto('/api-keys?dialog=create');
  await signInByForm(page, email);
  const form = page.getByRole('dialog');
  const name = form.getByRole('textbox', { name: 'Name' });
  await name.fill('Night build');
  await form.getByRole('textbox', { name: 'Expiration Date' }).fill('2031-12-31');

  await become('viewer');
  const refused = page.waitForResponse(`**${session.me.path}`);
  await comeBack(page);
  await refused;
  await quiet(page);
  await form.getByRole('button', { name: 'Create API Key' }).click();
  await expect(form.getByRole('alert')).toHaveText('You lack the permission api_keys:create.');
  await expect(name).toHaveValue('Night build');

  await become('admin');
  await form.getByRole('button', { name: 'Create API Key' }).click();
  await expect(form.getByText('This key will not be shown again.')).toBeVisible();
  await become('viewer');
  await comeBack(page);
  await quiet(page);
  await expect(form.getByText('This key will not be shown again.')).toBeVisible();
  await form.getByRole('button', { name: 'Done' }).click();
  await expect(heading(page, 'You may not see this screen')).toBeVisible();
});
