import type { Route } from '@playwright/test';
import { apiKeys } from '../../contract/api-keys.ts';
import { permit } from '../../contract/permissions.ts';
import { uploads } from '../../contract/uploads.ts';
import { rbac, users } from '../../contract/users.ts';
import { validation } from '../../contract/validation.ts';
import { makeApiKey, makeHolder, makeLicense, unique } from '../factories.ts';
import { shownMoment } from '../../web/ui/typed-day.ts';
import { endSessions } from './calls.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  comeBack,
  type ConsoleServer,
  dialog,
  expect,
  expectAccessible,
  expectBriefly,
  expectColor,
  expectInSight,
  expectSaid,
  expectStatus,
  goByKeys,
  goTo,
  inDays,
  type Page,
  rowOf,
  signInAs,
  signInByForm,
  signInHolding,
  test,
} from './support.ts';
import { makeUser } from './users-screen.ts';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

const create = (page: Page) => dialog(page, 'Create API Key');
const row = (page: Page, name: string) => rowOf(page.getByRole('region', { name: 'API keys' }), name);
/** Fills a field of the new key. */
const enter = (page: Page, name: string, text: string) =>
  create(page).getByRole('textbox', { name }).fill(text);
const submit = (page: Page) => create(page).getByRole('button', { name: 'Create API Key' }).click();
/** A value of `datetime-local`; tests run in UTC. */
const field = (iso: string) => iso.slice(0, 16);
const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
const warning = "This key will not be shown again. If you lose it, you'll need to create a new one.";

/** Responds to the browser's `confirm`, and returns its text. */
const answerQuestion = (page: Page, yes: boolean) =>
  new Promise<string>((resolve) => {
    page.once('dialog', (question) => {
      resolve(`${question.type()}: ${question.message()}`);
      void (yes ? question.accept() : question.dismiss());
    });
  });

/** Validates as a desktop does, with nothing but the key. */
async function validate(server: ConsoleServer, key: string) {
  const { licenseKey } = await makeLicense(server.admin);
  return () =>
    fetch(server.url + validation.validate.path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ licenseKey, machineId: 'ws-07' }),
    });
}
const told = async (answer: Response) => [answer.status, ((await answer.json()) as { error: string }).error];

test('the list before the first key', async ({ page, server }) => {
  const json = { success: true, data: { apiKeys: [] } };
  await page.route(`**${apiKeys.list.path}`, (route) => route.fulfill({ json }));
  await signInAs(page, 'super_admin', '/api-keys', server);
  await expect(page.getByRole('heading', { level: 1, name: 'API Key Management' })).toBeVisible();
  await expect(page).toHaveTitle('API Key Management · Lanyard');
  for (const text of [
    'API keys are used to authenticate desktop applications. Each key is shown only once upon creation.',
    'Keys are hashed before storage and support IP whitelisting and rate limiting.',
    'Create your first API key to get started',
  ])
    await expect(page.getByText(text, { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'No API keys found' })).toBeVisible();
  await expectAccessible(page);
});

test('a key from its creation to its revocation', async ({ page, server }) => {
  const name = unique('Clinic desktops');
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  await goByKeys(page, 'k');
  await expect(page).toHaveURL('/api-keys');
  const expiresAt = field(inDays(30));
  let key = '';

  await test.step('what is missing is said, and nothing is sent', async () => {
    const posts: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
    await button(page, 'Create API Key').first().click();
    await expect(page).toHaveURL('/api-keys?dialog=create');
    await expect(create(page).getByRole('textbox', { name: 'Rate Limit' })).toHaveValue('1,000');
    await expect(create(page).getByRole('checkbox', { checked: true })).toHaveCount(1);
    await expect(create(page).getByRole('checkbox', { name: 'Validate licenses' })).toBeChecked();
    await enter(page, 'Rate Limit', '');
    await submit(page);
    for (const text of ['Name is required', 'Expiration date is required', 'Rate limit is required'])
      await expect(create(page).getByText(text, { exact: true })).toBeVisible();
    await enter(page, 'Rate Limit', '0');
    await submit(page);
    await expect(create(page).getByText('Rate limit must be at least 1')).toBeVisible();
    expect(posts).toEqual([]);
    await expectAccessible(page);
  });

  await test.step('what the server refuses is said at its field', async () => {
    expectStatus(page, 422);
    await enter(page, 'Name', name);
    await enter(page, 'Expiration Date', field(inDays(-1)));
    await enter(page, 'Rate Limit', '5');
    await enter(page, 'IP Whitelist', '127.0.0.1, 10.0.0.300');
    await submit(page);
    await expect(
      create(page).getByText('10.0.0.300 is neither an IP address nor a CIDR range'),
    ).toBeVisible();
    await enter(page, 'IP Whitelist', ' 127.0.0.1,, ::1 ');
    await submit(page);
    await expect(create(page).getByText('Must lie in the future')).toBeVisible();
  });

  await test.step('created, and shown once', async () => {
    await enter(page, 'Expiration Date', expiresAt);
    const posted = page.waitForRequest((request) => request.method() === 'POST');
    await submit(page);
    expect((await posted).postDataJSON()).toEqual({
      name,
      expiresAt: `${expiresAt}:00.000Z`,
      rateLimit: 5,
      ipWhitelist: ['127.0.0.1', '::1'],
      scopes: ['validate'],
    });
    const made = dialog(page, 'API Key Created');
    await expect(made.getByText(/^API key ".*" created\.$/)).toBeFocused();
    await expect(made.getByText(warning, { exact: true })).toBeVisible();
    const shown = made.getByRole('group', { name: 'API key' }).locator('.mono');
    await expect(shown).toHaveText(/^lyd_[a-z0-9]{12}•+$/);
    const copiedAt = Date.now();
    await expectBriefly(made.getByRole('button', { name: 'Copied!' }), () =>
      made.getByRole('button', { name: 'Copy Key' }).click(),
    );
    await expect(made.getByRole('button', { name: 'Copy Key' })).toBeVisible();
    expect(Date.now() - copiedAt).toBeGreaterThan(1900);
    key = await copied(page);
    await made.getByRole('button', { name: 'Show key' }).click();
    await expect(shown).toHaveText(key);
    await expectAccessible(page);
    await made.getByRole('button', { name: 'Hide key' }).click();
    // Back would lose it, and so would a reload
    await page.goBack();
    const leave = dialog(page, 'Leave now?');
    await expect(leave).toContainText('What is shown here may not be shown again.');
    await leave.getByRole('button', { name: 'Stay' }).click();
    await expect(made.getByRole('button', { name: 'Copy Key' })).toBeVisible();
    await expect(shown).not.toContainText(key);
    await expect(made.getByText(`curl -s ${server.url}/api/licenses/validate`)).toBeVisible();
    await expect(made.getByText('publish-release')).toBeHidden();
    // It cannot be closed accidentally.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await expect(made).toBeVisible();
    await made.getByRole('button', { name: 'Done' }).click();
    await expect(page).toHaveURL('/api-keys');
    expect(await page.content()).not.toContain(key);
  });

  const use = await validate(server, key);
  await test.step('in the list, and its usage rises by itself', async () => {
    await expect(row(page, name)).toContainText('IP restricted');
    await expect(row(page, name)).toContainText(key.slice(0, 16));
    await expect(row(page, name)).toContainText('Active');
    await expect(row(page, name)).toContainText('Never used');
    await expect(row(page, name)).toContainText('0 requests · 5 per hour');
    await expectAccessible(page);
    for (const _ of [1, 2]) expect((await use()).status).toBe(200);
    await expect(row(page, name)).toContainText('2 requests · 5 per hour');
    await expect(row(page, name)).toContainText(/Last used (just now|\d minutes? ago)/);
  });

  await test.step('edited: another limit and whitelist act at once', async () => {
    await row(page, name).getByRole('button', { name: 'View' }).click();
    const details = dialog(page, 'API Key Details');
    await expect(page).toHaveURL(/\?key=[0-9a-f-]+$/);
    for (const term of ['Name', 'Key Prefix', 'Status', 'Total Requests', 'Created', 'Last Used', 'Expires'])
      await expect(details.getByRole('term').filter({ hasText: new RegExp(`^${term}$`) })).toBeVisible();
    await expect(details.getByRole('definition').filter({ hasText: '5 per hour' })).toBeVisible();
    await expect(details.getByRole('listitem')).toHaveText(['127.0.0.1', '::1']);
    await expectAccessible(page);
    await details.getByRole('button', { name: 'Edit' }).click();
    const edit = dialog(page, 'Edit API Key');
    await expect(edit.getByRole('textbox', { name: 'Name' })).toHaveValue(name);
    await expect(edit.getByRole('textbox', { name: 'Expiration Date' })).toHaveValue(shownMoment(expiresAt));
    await edit.getByRole('textbox', { name: 'Rate Limit' }).fill('50');
    await edit.getByRole('textbox', { name: 'IP Whitelist' }).fill('10.0.0.0/8');
    const patched = page.waitForRequest((request) => request.method() === 'PATCH');
    await edit.getByRole('button', { name: 'Save Changes' }).click();
    expect((await patched).postDataJSON()).toEqual({
      rateLimit: 50,
      ipWhitelist: ['10.0.0.0/8'],
      updatedAt: expect.any(String),
    });
    await expectSaid(page, `API key "${name}" updated`);
    expect(await told(await use())).toEqual([403, 'The API key may not be used from this address.']);

    await row(page, name).getByRole('button', { name: 'Edit' }).click();
    for (const label of ['Name', 'Expiration Date', 'Rate Limit'])
      await expect(edit.getByRole('textbox', { name: label })).toHaveAccessibleDescription(
        /Left empty, it stays as it is$/,
      );
    await edit.getByRole('checkbox', { name: /^Remove the IP restriction/ }).check();
    await edit.getByRole('button', { name: 'Save Changes' }).click();
    await expect(row(page, name)).not.toContainText('IP restricted');
    expect((await use()).status).toBe(200);
  });

  await test.step('inactive, and active again', async () => {
    const edit = dialog(page, 'Edit API Key');
    for (const [state, status] of [
      ['Inactive', 401],
      ['Active', 200],
    ] as const) {
      await row(page, name).getByRole('button', { name: 'Edit' }).click();
      await edit.getByRole('combobox', { name: 'Status' }).click();
      await page.getByRole('option', { name: state, exact: true }).click();
      const consequences = edit.getByRole('group', { name: 'Consequences' });
      if (state === 'Inactive')
        await expect(consequences).toContainText(/validated with it in the last 24 hours/);
      else await expect(consequences).toHaveCount(0);
      await edit.getByRole('button', { name: 'Save Changes' }).click();
      await expect(row(page, name)).toContainText(state === 'Active' ? 'Active' : 'Revoked');
      expect((await use()).status).toBe(status);
    }
  });

  await test.step('revoked: refused at once, and for good', async () => {
    const question = `confirm: Are you sure you want to revoke the API key "${name}"? This action cannot be undone.`;
    const refused = answerQuestion(page, false);
    await row(page, name).getByRole('button', { name: 'Revoke' }).click();
    expect((await refused).split('\n')[0]).toBe(question);
    expect((await use()).status).toBe(200);
    const accepted = answerQuestion(page, true);
    await row(page, name).getByRole('button', { name: 'Revoke' }).click();
    expect(await accepted).toMatch(
      /\n\nLast used .*, \d+ requests in all\.\n\d+ machines? validated with it in the last 24 hours/,
    );
    await expectSaid(page, `API key "${name}" revoked`);
    expect(await told(await use())).toEqual([401, 'The API key has been revoked.']);
    await expect(row(page, name)).toContainText('Revoked');
    const edit = row(page, name).getByRole('button', { name: 'Edit' });
    await expect(edit).toHaveAttribute('aria-disabled', 'true');
    await row(page, name).getByRole('button', { name: 'View' }).click();
    await expect(dialog(page, 'API Key Details').getByText(/Permanently revoked on/)).toBeVisible();
  });
});

test('a key for a build pipeline comes with what a pipeline needs', async ({ page, server }) => {
  const name = unique('CI');
  await signInAs(page, 'admin', '/api-keys?dialog=create', server);
  await enter(page, 'Name', name);
  await enter(page, 'Expiration Date', field(inDays(1)));
  await create(page).getByRole('checkbox', { name: 'Validate licenses' }).uncheck();
  await submit(page);
  await expect(create(page).getByText('At least one scope is required')).toBeVisible();
  await expect(create(page).getByRole('checkbox', { name: 'Validate licenses' })).toBeFocused();
  await create(page).getByRole('checkbox', { name: 'Publish releases' }).check();
  await submit(page);
  const made = dialog(page, 'API Key Created');
  await expect(made.getByText(`npm run publish-release -- --server ${server.url}`)).toBeVisible();
  await expect(made.getByText(`url: ${server.url}/api/v1/updates/electron/win32/x64`)).toBeVisible();
  await expectBriefly(made.getByRole('button', { name: 'Copied!' }), () =>
    made.getByRole('button', { name: 'Copy Key' }).click(),
  );
  const body = JSON.stringify({ fileName: 'a.exe', fileSize: 1, version: '9.9.9' });
  const headers = { 'x-api-key': await copied(page), 'content-type': 'application/json' };
  const allowed = await fetch(server.url + uploads.prepare.path, { method: 'POST', headers, body });
  expect(allowed.status).toBe(201);
});

test('a key that another user changed concurrently: the differences are shown, and the user decides', async ({
  page,
  server,
}) => {
  const { id, name } = await makeApiKey(server.admin, { ipWhitelist: ['10.0.0.1'] });
  // the list comes when the dialog has the focus, and the key after it
  const whenFocused = async (list: Route) => {
    await expect(page.getByRole('dialog').getByText('Loading…')).toBeFocused();
    await list.continue();
  };
  await page.route(`**${apiKeys.list.path}`, whenFocused, { times: 1 });
  await signInAs(page, 'super_admin', `/api-keys?key=${id}&dialog=edit`, server);
  const edit = dialog(page, 'Edit API Key');
  const whitelist = edit.getByRole('textbox', { name: 'IP Whitelist' });
  const conflict = dialog(page, 'Someone else changed this meanwhile');
  const byAnother = (ipWhitelist: string[]) =>
    server.admin.ok(apiKeys.update, { params: { keyId: id }, body: { ipWhitelist } });
  const stored = async () =>
    (await server.admin.ok(apiKeys.list)).apiKeys.find((key) => key.id === id)!.ipWhitelist;
  expectStatus(page, 409);

  await expect(edit.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await whitelist.fill('10.0.0.3');
  await byAnother(['10.0.0.4']);
  await edit.getByRole('button', { name: 'Save Changes' }).click();
  await expect(rowOf(conflict, 'IP Whitelist').getByRole('cell')).toHaveText(['10.0.0.4', '10.0.0.3']);
  await expect(conflict.getByRole('row')).toHaveCount(2);
  await page.keyboard.press('Escape');
  await expect(conflict).toBeHidden();
  await expect(whitelist).toHaveValue('10.0.0.3');
  await edit.getByRole('button', { name: 'Save Changes' }).click();
  await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
  await expectSaid(page, `API key "${name}" updated`);
  await expect(page).toHaveURL('/api-keys');
  expect(await stored()).toEqual(['10.0.0.3']);
});

test('failures are shown: loading, creating, updating, revoking', async ({ page, server }) => {
  const { name, id } = await makeApiKey(server.admin);
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  expectStatus(page, 418);
  const refuse = async (method: string, error: string) => {
    await page.unroute('**/api/v1/api-keys**');
    await page.route('**/api/v1/api-keys**', (route) =>
      route.request().method() === method
        ? route.fulfill({ status: 418, json: { success: false, error } })
        : route.fallback(),
    );
  };
  await refuse('GET', 'The kettle boils.');
  await page.getByRole('link', { name: 'API Keys', exact: true }).click();
  await expect(
    page.getByRole('heading', { name: 'Error loading API keys: The kettle boils.' }),
  ).toBeVisible();
  await expectAccessible(page);
  await refuse('POST', 'No more keys.');
  await button(page, 'Retry').click();
  await expect(row(page, name)).toBeVisible();

  await button(page, 'Create API Key').click();
  await enter(page, 'Name', 'x');
  await enter(page, 'Expiration Date', field(inDays(1)));
  await submit(page);
  await expect(create(page).getByRole('alert')).toHaveText('No more keys.');
  await page.keyboard.press('Escape');

  await refuse('PATCH', 'Not today.');
  await page.goto(`${server.url}/api-keys?key=${id}&dialog=edit`);
  const edit = dialog(page, 'Edit API Key');
  await edit.getByRole('textbox', { name: 'Name' }).fill('y');
  await edit.getByRole('button', { name: 'Save Changes' }).click();
  await expect(edit.getByRole('alert')).toHaveText('Not today.');
  await edit.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(page).toHaveURL('/api-keys');

  await refuse('DELETE', 'It is stuck.');
  const asked = answerQuestion(page, true);
  await row(page, name).getByRole('button', { name: 'Revoke' }).click();
  await asked;
  await expectSaid(page, `API key "${name}" was not revoked: It is stuck.`);
});

test('an expired key says so; who may not read keys sees no way to them', async ({ page, server }) => {
  const { name, id, createdAt } = await makeApiKey(server.admin);
  const past = { expires_at: new Date(inDays(-1)) };
  await server.db.updateTable('api_keys').set(past).where('api_key_id', '=', id).execute();
  await signInAs(page, 'super_admin', '/api-keys', server);
  await expectColor(row(page, name).getByText('Expired'), 'yellow');
  await expect(page.getByRole('columnheader')).toHaveText(['Name', 'Status', 'Created', 'Usage', 'Actions']);
  await expect(row(page, name).locator('time').first()).toHaveAttribute('datetime', createdAt);
  await row(page, name).getByRole('button', { name: 'View' }).click();
  await expect(dialog(page, 'API Key Details').getByText('Never', { exact: true })).toBeVisible();

  await page.keyboard.press('Escape');
  await button(page, 'Logout').click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await signInHolding(page, [{ resource: 'api_keys', action: 'read' }], '/api-keys', server);
  await expect(row(page, name).getByRole('button')).toHaveText(['View']);
  await expect(button(page, 'Create API Key')).toHaveCount(0);
  await row(page, name).getByRole('button', { name: 'View' }).click();
  await expect(dialog(page, 'API Key Details').getByRole('button', { name: 'Edit' })).toHaveCount(0);

  await signInAs(page, 'viewer', '/licenses', server);
  await expect(page.getByRole('link', { name: 'Licenses', exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: 'API Keys', exact: true })).toBeHidden();
  await goTo(page, '/api-keys');
  await expect(page.getByRole('heading', { name: 'You may not see this screen' })).toBeVisible();
  await expect(button(page, 'Create API Key')).toBeHidden();
});

test('a key shows who created it and where it was used; users cannot grant scopes beyond their own permissions', async ({
  page,
  server,
}) => {
  const email = `${unique('kim').replace(' ', '-')}@lanyard.test`;
  const kim = await makeUser(server, 'admin', email, '');
  const key = await makeApiKey(await server.apiAs(email), { scopes: ['validate', 'releases'] });
  expect((await (await validate(server, key.key))()).status).toBe(200);
  await server.admin.ok(users.delete, { params: { id: kim.id } });

  const permissions = [
    ...(['read', 'create', 'update'] as const).map((action) => ({ resource: 'api_keys', action }) as const),
    { resource: 'licenses', action: 'update' } as const,
  ];
  await signInHolding(page, permissions, '/api-keys', server);
  await expect(row(page, key.name)).toContainText(`by ${email}`);
  await expect(row(page, key.name)).toContainText('from 127.0.0.1');
  await expectColor(row(page, key.name).getByText('Creator deleted'), 'yellow');
  await row(page, key.name).getByRole('button', { name: 'View' }).click();
  const details = dialog(page, 'API Key Details');
  await expect(details.getByRole('note')).toHaveText('This user was deleted. The key is not affected.');
  await expect(details.getByText(/ from 127\.0\.0\.1$/)).toBeVisible();

  await details.getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit API Key');
  await expect(edit.getByRole('checkbox', { name: 'Publish releases' })).toBeEnabled();
  await expect(edit.getByRole('checkbox', { name: 'Updates' })).toBeDisabled();
  await expect(edit.getByText('You lack releases:read and rollouts:update yourself.')).toBeVisible();
  await expectAccessible(page);
  await edit.getByRole('button', { name: 'Cancel' }).click();

  await button(page, 'Create API Key').click();
  await expect(create(page).getByRole('checkbox', { name: 'Validate licenses' })).toBeChecked();
  await expect(create(page).getByRole('checkbox', { name: 'Publish releases' })).toBeDisabled();
  await expect(
    create(page).getByText('You lack releases:create and rollouts:create or rollouts:update yourself.'),
  ).toBeVisible();
});

test('a chosen scope can be taken out once the user lacks its permissions', async ({ page, server }) => {
  const held = [permit('api_keys', 'read'), permit('api_keys', 'create')];
  const { email, role } = await makeHolder(
    server.admin,
    [...held, permit('licenses', 'update')],
    server.printed.password,
  );
  await page.goto('/api-keys?dialog=create');
  await signInByForm(page, email);
  const scope = create(page).getByRole('checkbox', { name: 'Validate licenses' });
  await expect(scope).toBeChecked();
  const body = { description: 'Some', requiresSecondFactor: false, permissions: held };
  await server.admin.ok(rbac.updateRole, { params: { roleId: role }, body });
  // as another tab does that heard of it
  await page.evaluate(() => new BroadcastChannel('rights').postMessage(null));
  await expect(create(page).getByText('You lack licenses:update yourself.')).toBeVisible();
  await expect(scope).toBeEnabled();
  await scope.uncheck();
});

test('a key that is being created is shown whatever key is pressed', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/api-keys?dialog=create', server);
  await enter(page, 'Name', unique('Held'));
  await enter(page, 'Expiration Date', field(inDays(1)));
  const free = await holdBack(page, '**/api/v1/api-keys');
  await submit(page);
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  await expect(create(page).getByRole('button', { name: 'Cancel' })).toBeDisabled();
  await expect(create(page).getByRole('button', { name: 'Close' })).toHaveCount(0);
  free();
  const made = dialog(page, 'API Key Created');
  await expect(made.getByText(warning, { exact: true })).toBeVisible();

  // nor is it lost with the session
  expectStatus(page, 401);
  await made.getByRole('button', { name: 'Show key' }).click();
  const secret = made.getByRole('group', { name: 'API key' });
  await expect(secret).toHaveText(/^lyd_\w+$/);
  const key = await secret.textContent();
  await endSessions(page, 'super_admin', server, apiKeys.list);
  await comeBack(page);
  await expect(page.getByText('your input is kept')).toBeVisible();
  await signInByForm(page, (await server.person('super_admin')).email);
  await made.getByRole('button', { name: 'Show key' }).click();
  await expect(secret).toHaveText(key!);
  await made.getByRole('button', { name: 'Done' }).click();
  await button(page, 'Create API Key').first().click();
  await expect(create(page).getByRole('textbox', { name: 'Name' })).toHaveValue('');
});

test('the list of keys beside what it leads to', async ({ page, server }) => {
  const name = unique('All desktops of the university hospital in Heidelberg, wards 3 to 17');
  await makeApiKey(server.admin, { name, ipWhitelist: ['10.0.0.0/8'] });
  await signInAs(page, 'super_admin', '/api-keys', server);

  await test.step('Back opens neither the fields of a key again nor its details', async () => {
    await row(page, name).getByRole('button', { name: 'View' }).click();
    await dialog(page, 'API Key Details').getByRole('button', { name: 'Edit' }).click();
    await dialog(page, 'Edit API Key').getByRole('button', { name: 'Cancel' }).click();
    await expect(page).toHaveURL('/api-keys');
    await page.goBack();
    await expect(page).toHaveURL('/api-keys');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('keys that need nobody are not said to be missing, and one long name pushes nothing out of sight', async () => {
    await goTo(page, '/api-keys?attention=limited');
    await expect(page.getByText('No key needs anybody for this reason now.')).toBeVisible();
    await goTo(page, '/api-keys');
    for (const width of [1440, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await expectInSight(row(page, name).getByText('Active', { exact: true }));
      for (const action of ['View', 'Revoke'])
        await expectInSight(row(page, name).getByRole('button', { name: action }));
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await expectInSight(row(page, name).getByRole('button', { name: 'View' }));
  });
});
