import type { Locator } from '@playwright/test';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { writeCursor } from '../../contract/audit-cursor.ts';
import { audit } from '../../contract/audit.ts';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { makeCustomer, makeLicense, unique } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { importCustomers } from './import.ts';
import {
  button,
  type ConsoleServer,
  day,
  dialog,
  expect,
  expectAccessible,
  expectBriefly,
  expectInSight,
  expectSaid,
  expectStatus,
  goByKeys,
  goTo,
  heading,
  option,
  type Page,
  placesOf,
  quiet,
  rowOf,
  signInAs,
  signInByForm,
  stayWithin,
  test,
} from './support.ts';
import { makeUser } from './users-screen.ts';

const search = (page: Page) => page.getByPlaceholder('Search audit logs...');
const rows = (page: Page) => page.getByRole('region', { name: 'Audit entries' }).locator('tbody tr');
const filter = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Filters' }).getByRole('combobox', { name, exact: true });

/** A customer that was created, renamed and moved to the trash. */
async function history({ admin }: ConsoleServer) {
  const name = unique('Audited Hospital');
  const customer = await makeCustomer(admin, { name, phone: '12' });
  const at = { params: { id: customer.customerId } };
  await admin.ok(customers.update, { ...at, body: { name: `${name} North`, country: 'DE' } });
  await admin.ok(customers.softDelete, at);
  return { name, id: customer.customerId };
}

test('an entry shows names and values as they are', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/audit', server);
  const entry = dialog(page, 'Audit Entry');
  const open = async (resourceId: string, event: string) => {
    await page.goto(`${server.url}/audit?resourceId=${resourceId}`);
    await rowOf(page, event).getByText('Success').click();
  };

  await test.step('a change between Hebrew names is shown from before to after', async () => {
    const { customerId: id } = await makeCustomer(server.admin, { name: 'בית חולים', contactName: 'דוד' });
    const body = { name: 'בית חולים', country: 'DE', contactName: 'שרה' };
    await server.admin.ok(customers.update, { params: { id }, body });
    await open(id, 'Customer updated');
    const fromLeft = ['Contact Name', 'דוד', '→', 'שרה'];
    const summary = entry.getByRole('paragraph').filter({ hasText: 'Contact Name' });
    await expect(summary).toBeVisible();
    expect(await placesOf(summary, fromLeft)).toEqual(fromLeft);
    const stored = entry.locator('dd').filter({ hasText: 'contactName' });
    expect(await placesOf(stored, fromLeft)).toEqual(fromLeft.slice(1));
  });

  await test.step('an entry shows values that look like words, names or times of the console', async () => {
    const changes = entry.getByRole('group', { name: 'Changes' }).getByRole('row');
    const contactName = '2026-99-99T99:99Z';
    const customer = await makeCustomer(server.admin, { name: 'Germany', contactName });
    const license = await makeLicense(server.admin, { customerId: customer.customerId });
    const [validUntil, later] = [license.validUntil, license.validUntil.replace('00:00:00', '01:00:00')];
    await server.admin.ok(licenses.update, {
      params: { id: license.licenseId },
      body: { validUntil: later },
    });
    await open(customer.customerId, 'Customer created');
    await expect(changes.filter({ hasText: 'Contact Name' })).toContainText(contactName);
    await expect(changes.filter({ hasText: 'Company Name' }).getByRole('link')).toBeVisible();
    await expect(changes.filter({ hasText: 'Country' }).getByRole('link')).toHaveCount(0);
    await open(license.licenseId, 'License updated');
    await expect(changes.filter({ hasText: 'Valid Until' })).toHaveText(`Valid Until${validUntil}${later}`);
  });

  await test.step('one long address does not push the state out of sight', async () => {
    const email = `maximiliane.von-hohenstein-wagner.${Date.now()}@universitaetsklinikum.example`;
    await makeUser(server, 'admin', email, 'Kim');
    const { customerId } = await makeCustomer(await server.apiAs(email));
    await goTo(page, `/audit?resourceId=${customerId}`);
    for (const width of [1440, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await expectInSight(rowOf(page, email).getByText('Success'));
    }
  });
});

test('the list: columns, search, pages and sizes, in the address', async ({ page, server }) => {
  const { name, id } = await history(server);
  await importCustomers(
    server.admin,
    Array.from({ length: 22 }, () => unique('Listed')),
  );
  const stats = `**${audit.stats.path}*`;
  expectStatus(page, 404);
  // an answer that is not asked for again by itself
  await page.route(stats, (route) => route.fulfill({ status: 404, json: { error: 'The figures are lost' } }));
  await signInAs(page, 'super_admin', '/licenses', server);
  await page.getByRole('link', { name: 'Audit Log' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Audit Log' })).toBeVisible();
  await expect(page.getByRole('columnheader')).toHaveText([
    'Timestamp',
    'User',
    'Action',
    'Resource',
    'Details',
    'Status',
  ]);
  await expect(rows(page)).toHaveCount(20);
  await expect(page.getByRole('main', { name: 'Audit Log' })).toBeFocused();
  await expect(page.getByRole('row', { name: /^Session of .*: signed in/ }).first()).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('The figures are lost');
  await page.unroute(stats);
  await button(page, 'Retry').click();
  await expect(page.getByRole('region', { name: 'The last 30 days' })).toBeVisible();
  await expectAccessible(page);

  await button(page, 'Next').click();
  await expect(page).toHaveURL(/page=2&after=/);
  await expect(page.getByText('Showing ')).toContainText('Showing 21 to');
  await button(page, 'Previous').click();
  await expect(page.getByText('Showing ')).toContainText('Showing 1 to 20');
  await button(page, 'Next').click();
  await expect(page).toHaveURL(/page=2&after=/);
  await makeCustomer(server.admin);
  await page.reload();
  await expect(page.getByText('Showing ')).toContainText('Showing 21 to');
  await button(page, 'Previous').click();
  await expect(page.getByText('Showing ')).toContainText('Showing 1 to 20');
  // pressed again before the page has come
  const comes = await holdBack(page, (url) => url.searchParams.has('after'));
  await button(page, 'Next').click();
  await expect(page).toHaveURL(/page=2&after=/);
  await button(page, 'Next').click();
  comes();
  await expect(page.getByText('Showing ')).toContainText('Showing 21 to');
  await search(page).fill(name.toUpperCase());
  await expect(page).toHaveURL(new RegExp(`\\?search=${name.replaceAll(' ', '\\+')}$`, 'i'));
  await expect(rows(page)).toHaveCount(3);
  const updated = rowOf(page, 'Customer updated');
  await expect(updated).toContainText(server.printed.email);
  await expect(updated).toContainText('Super Admin');
  await expect(updated).toContainText(`Company Name: ${name} → ${name} North; Phone: 12 → –`);
  await expect(updated).toContainText('127.0.0.1');
  await expect(updated).toContainText('Success');
  await expect(updated).toContainText(id.slice(0, 13));

  // a link that a mail broke
  await goTo(page, '/audit?page=2&after=MjAyNi0xMS');
  await expect(page.getByText('Showing ')).toContainText('Showing 21 to');

  await search(page).fill('nothing is called so');
  await expect(page.getByText('No audit logs found', { exact: true })).toBeVisible();
  await expect(page.getByText('No results')).toBeAttached();
  await button(page, 'Clear Search and Filters').click();
  await page.getByRole('combobox', { name: 'Entries per page' }).click();
  await expect(page.getByRole('option')).toHaveText([
    '10 per page',
    '20 per page',
    '50 per page',
    '100 per page',
  ]);
  await option(page, '10 per page').click();
  await expect(page).toHaveURL(/\?size=10$/);
  await expect(rows(page)).toHaveCount(10);
});

test('a search in parts, what leads to the log, and what is exported', async ({ page, server }) => {
  const { email } = await signInAs(page, 'super_admin', '/today', server);

  await test.step('a search that is answered in parts counts the entries that it has shown', async () => {
    for (let n = 0; n < 2; n++) await makeCustomer(server.admin);
    const { entries } = await server.admin.ok(audit.list, { query: { limit: '2' } });
    const [nextPart, lastPart] = entries.map(({ timestamp, audit_id }) =>
      writeCursor({ timestamp: new Date(timestamp), audit_id }),
    );
    await page.route(
      ({ pathname, searchParams }) => pathname === audit.list.path && searchParams.get('search') === '.7',
      async (route) => {
        const after = new URL(route.request().url()).searchParams.get('after');
        const isLast = after === lastPart;
        const data = {
          entries: after ? entries : [],
          total: after ? entries.length : 0,
          totalIsExact: false,
          hasMore: !isLast,
          nextCursor: isLast ? null : after ? lastPart : nextPart,
          searchedBackTo: isLast ? null : entries[1]!.timestamp,
        };
        await route.fulfill({ json: { success: true, data } });
      },
    );
    await goTo(page, '/audit?search=.7');
    await expect(page.getByText('Nothing found back to ')).toBeVisible();
    await button(page, 'Search Older Entries').click();
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await expect(pages).toContainText('Showing 1 to 2 of more than 2 results, searched back to ');
    await button(page, 'Next').click();
    await expect(pages).toContainText('Showing 3 to 4, the oldest results');
    await expect(pages).toContainText('Page 3');
    // the pages before are known by their ends alone
    await button(page, 'Previous').click();
    await expect(page.getByText('Nothing found back to ')).toBeVisible();
    await expect(page).toHaveURL(/\?search=\.7$/);
  });

  await test.step('a license and a customer lead to all changes made to them', async () => {
    const license = await makeLicense(server.admin);
    await goTo(page, `/licenses?edit=${license.licenseId}`);
    await page.getByRole('link', { name: 'All changes' }).click();
    await expect(page).toHaveURL(`${server.url}/audit?resourceType=license&resourceId=${license.licenseId}`);
    await expect(rows(page)).toHaveCount(1);
    await expect(rows(page)).toContainText('License created');
    await page.goto(`${server.url}/customers?edit=${license.customerId}`);
    await page.getByRole('link', { name: 'All changes' }).click();
    // skeletons are shown while the entries load
    await expect(rows(page)).toHaveCount(1);
    await expect(rows(page)).toContainText('Customer created');
  });

  await test.step('the export has exactly what the filter shows', async () => {
    await stayWithin(day);
    const { id } = await history(server);
    await goTo(page, `/audit?resourceId=${id}&size=10`);
    await expect(rows(page)).toHaveCount(3);
    const from = Date.now();
    const downloading = page.waitForEvent('download');
    await expectBriefly(page.getByText('Audit logs exported successfully'), () =>
      button(page, 'Export CSV').click(),
    );
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`audit-logs-${new Date().toISOString().slice(0, 10)}.csv`);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines.slice(1).map((line) => line.split(',')[3])).toEqual([
      'customer.soft_deleted',
      'customer.updated',
      'customer.created',
    ]);
    await expect(page.getByText('Audit logs exported successfully')).toHaveCount(0);
    expect(Date.now() - from).toBeGreaterThan(2500);

    expectStatus(page, 'aborted');
    await page.route(`**${audit.exportCsv.path}*`, (route) => route.abort());
    await button(page, 'Export CSV').click();
    await expectSaid(page, 'Failed to export audit logs');

    // how it ends after Logout is not told to whoever signs in next
    const ends = await holdBack(page, `**${audit.exportCsv.path}*`);
    await button(page, 'Export CSV').click();
    await button(page, 'Logout').click();
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    const failed = page.waitForEvent('requestfailed');
    ends();
    await failed;
    await signInByForm(page, email);
    await expect(rows(page)).toHaveCount(3);
    await quiet(page);
    await expect(page.getByText('Failed to export audit logs')).toHaveCount(0, { timeout: 100 });
  });
});

test('nothing moves when the figures of the last days come', async ({ page, server }) => {
  // more entries than fit on the screen: the list takes the remaining height
  await importCustomers(
    server.admin,
    Array.from({ length: 15 }, () => unique('Listed')),
  );
  const come = await holdBack(page, '**/AuditStats-*.js');
  await signInAs(page, 'super_admin', '/audit', server);
  await expect(rows(page).first()).toBeVisible();
  // a font that loads late changes widths as well
  await page.evaluate(() => document.fonts.ready);
  await expect(page.getByText('Chain whole')).toBeVisible();
  // a notice above, such as of a slow storage, moves both
  const place = async () => {
    const title = (await heading(page, 'Audit Log').boundingBox())!;
    const { x, y } = (await button(page, 'Filters').boundingBox())!;
    return [x, y - title.y];
  };
  const before = await place();
  come();
  await expect(page.getByRole('region', { name: 'The last 30 days' })).toBeVisible();
  await expect.poll(place).toEqual(before);
});

test('the filters: person, record, event and days; one entry before and after', async ({ page, server }) => {
  await stayWithin(day);
  const { name, id } = await history(server);
  await signInAs(page, 'super_admin', '/audit', server);
  await button(page, 'Filters').click();
  await filter(page, 'User').click();
  await option(page, server.printed.email).click();
  await filter(page, 'Event Type').click();
  await option(page, 'Customer updated').click();
  await filter(page, 'Resource Type').click();
  await option(page, 'Customer').click();
  await filter(page, 'Status').click();
  await option(page, 'Failed').click();
  await expect(page).toHaveURL(/status=failed/);
  await expect(page.getByText('No audit logs found', { exact: true })).toBeVisible();
  await filter(page, 'Status').click();
  await option(page, 'Success').click();
  const today = new Date().toISOString().slice(0, 10);
  const [from, to] = ['From', 'To'].map((end) => page.getByLabel(end, { exact: true }));
  await from!.fill(today);
  // all fields in one row
  await page.setViewportSize({ width: 1600, height: 720 });
  await to!.fill('2020-01-31');
  await to!.press('Tab');
  await expect(page.getByText('Lies before From', { exact: true })).toBeVisible();
  await expect(page.getByText('No day lies in this range: To lies before From.')).toBeVisible();
  expect((await to!.boundingBox())!.y).toBe((await from!.boundingBox())!.y);
  await to!.fill('');
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByLabel('To', { exact: true }).fill(today);
  await page.getByRole('textbox', { name: 'Resource ID' }).fill(id);
  await expect(page).toHaveURL(new RegExp(`resourceId=${id}`));
  await expect(rows(page)).toHaveCount(1);
  await expectAccessible(page);
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  await expect(button(page, 'Filters (7)')).toBeVisible();

  await rows(page).getByText('Success').click();
  const entry = dialog(page, 'Audit Entry');
  const changes = entry.getByRole('group', { name: 'Changes' }).getByRole('row');
  await expect(changes.nth(1)).toHaveText(`Company Name${name}${name} North`);
  await expect(changes.nth(2)).toHaveText('Phone12—');
  await expect(changes).toHaveCount(4);
  await entry.getByRole('button', { name: /^Show \d+ unchanged fields$/ }).click();
  await expect(changes.filter({ hasText: 'Country' })).toHaveText('CountryGermanyGermany');
  await button(page, 'As Stored').click();
  await expect(changes.filter({ hasText: 'country' })).toHaveText('countryDEDE');
  await expect(entry).toContainText('customer.updated');
  await expect(entry).toContainText(`${name} North: name: ${name} → ${name} North; phone: 12 → –`);
  await expect(entry).toContainText('PUT /api/customers/{id}');
  await expect(entry).toContainText('127.0.0.1');
  await expect(entry).toContainText(/No\. \d+ of the chain/);
  await expectAccessible(page);
  await page.reload();
  await entry.getByRole('button', { name: 'All changes to this record' }).click();
  await expect(entry).toHaveCount(0);
  await expect(rows(page)).toHaveCount(3);
  await page.goBack();
  await expect(entry).toBeVisible();
  await page.keyboard.press('Escape');
  await filter(page, 'User').fill('nobody of that name');
  await page.getByLabel('To', { exact: true }).fill('');
  await expect(page).not.toHaveURL(/userId|to=/);
  await page.getByLabel('To', { exact: true }).fill('31.2.2026');
  await page.getByLabel('To', { exact: true }).press('Tab');
  await expect(page.getByText('No user with this name')).toBeVisible();
  await expect(page.getByText('There is no such day')).toBeVisible();
  await button(page, 'Clear Filters').click();
  await expect(page).toHaveURL(/\/audit$/);
  for (const label of ['User', 'To']) await expect(page.getByLabel(label, { exact: true })).toHaveValue('');
  await expect(page.getByText(/No user with this name|There is no such day/)).toHaveCount(0);

  // nor by the button of the list that a search left empty
  await filter(page, 'User').fill('nobody of that name');
  await page.getByRole('searchbox').fill('nothing that was ever done');
  await button(page, 'Clear Search and Filters').click();
  await expect(page).toHaveURL(/\/audit$/);
  await expect(page.getByLabel('User', { exact: true })).toHaveValue('');

  // the error that a press shows moves the row, or the link in it, away from the mouse
  const pressWithError = async (pressed: Locator) => {
    await page.getByLabel('To', { exact: true }).fill('never');
    await pressed.hover();
    await page.mouse.down();
    await expect(page.getByText('Write a date such as')).toBeVisible();
    await page.mouse.up();
  };
  await pressWithError(rows(page).nth(1));
  await expect(entry).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByLabel('To', { exact: true }).fill('');
  await expect(page.getByText('Write a date such as')).toHaveCount(0);
  await pressWithError(rows(page).nth(1).getByRole('link', { name: 'North' }));
  await expect(page).toHaveURL(new RegExp(`/customers/${id}`));
});

test('who may only read sees no way to export or set', async ({ page, server }) => {
  await signInAs(page, 'support_agent', '/audit', server);
  await expect(rows(page).first()).toBeVisible();
  await expect(button(page, 'Verify')).toBeVisible();
  for (const name of ['Export CSV', 'Retention']) await expect(button(page, name)).toHaveCount(0);
});

test('the retention has a floor', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/audit', server);
  await button(page, 'Retention').click();
  const days = page.getByRole('textbox', { name: 'Keep entries for (days)' });
  await expect(days).toHaveValue('730');
  await days.fill('89');
  await button(page, 'Save').click();
  await expect(page.getByText('Must be at least 90 days')).toBeVisible();
  await expectAccessible(page);
  await days.fill('400');
  await button(page, 'Save').click();
  await expectSaid(page, 'Audit entries are kept for 400 days');
  await expect(rowOf(page, 'Audit config changed').first()).toContainText('Retention days: 730 → 400');
  await button(page, 'Retention').click();
  await days.fill('100');
  const affected = page.getByRole('group', { name: 'Consequences' });
  await expect(affected).toContainText('No entry is older than that.');
  await button(page, 'Clean Up Now').click();
  const question = dialog(page, 'Clean Up Audit Log');
  await expect(question).toContainText('Remove what is older than 400 days?');
  await expect(question.getByRole('group', { name: 'Consequences' })).toContainText(
    'No entry is older than that.',
  );
  await button(page, 'Clean Up').click();
  await expect(page.getByText('Nothing is older than that')).toBeVisible();
  await expect(days, 'what is typed and not saved').toHaveValue('100');
  await button(page, 'Cancel').click();
  await button(page, 'Discard').click();
  expect((await server.admin.ok(audit.config)).retentionDays).toBe(400);

  await test.step('saved without a change, it sets back nothing that a colleague changed', async () => {
    await button(page, 'Retention').click();
    await expect(days).toHaveValue('400');
    await days.fill('401');
    await days.fill('400');
    await server.admin.ok(audit.setConfig, { params: { key: 'retentionDays' }, body: { value: 500 } });
    await button(page, 'Save').click();
    await expect(dialog(page, 'Retention')).toBeHidden();
    expect((await server.admin.ok(audit.config)).retentionDays).toBe(500);
    await button(page, 'Retention').click();
    await expect(days).toHaveValue('500');
  });

  await test.step('what a colleague set after it was typed is overwritten only when that is known', async () => {
    await days.fill('600');
    await server.admin.ok(audit.setConfig, { params: { key: 'retentionDays' }, body: { value: 700 } });
    expectStatus(page, 409);
    await button(page, 'Save').click();
    await expect(page.getByText('Someone else set 700 days meanwhile. Save again to set 600.')).toBeVisible();
    await expect(days).toHaveValue('600');
    expect((await server.admin.ok(audit.config)).retentionDays).toBe(700);
    await button(page, 'Save').click();
    await expect(dialog(page, 'Retention')).toBeHidden();
    expect((await server.admin.ok(audit.config)).retentionDays).toBe(600);
  });
});

const root = join(import.meta.dirname, '../..');
const verifyByCommand = ({ settings }: ConsoleServer) =>
  promisify(execFile)(process.execPath, [join(root, 'dist/tools/audit-verify.js')], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
  }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, stdout: error.stdout }),
  );

test('the chain is whole; an entry altered in the database is named, here and by the command', async ({
  page,
  freshServer: server,
}) => {
  const { id } = await history(server);
  await signInAs(page, 'super_admin', '/audit', server);
  await button(page, 'Chain whole').click();
  await expect(page.getByText(/^Entry \d+ kept in the data directory:/)).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await button(page, 'Verify').click();
  await expect(page.getByText('The chain is whole')).toBeVisible();

  const { entries } = await server.admin.ok(audit.list, {
    query: { resourceId: id, eventType: 'customer.updated' },
  });
  const altered = entries[0]!.audit_id;
  await server.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = 'replica'`.execute(tx);
    await sql`update audit_entries set user_email = 'somebody.else@lanyard.test' where audit_id = ${altered}`.execute(
      tx,
    );
  });
  await page.keyboard.press('Escape');
  await expect(button(page, 'Verify')).toBeFocused();
  await button(page, 'Verify').click();
  await expect(page.getByText('The chain is broken')).toBeVisible();
  await expect(button(page, 'Chain broken')).toBeVisible();
  await expect(page.getByText('The entry was altered after it was written.')).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Open Entry').click();
  await expect(dialog(page, 'Audit Entry')).toContainText('somebody.else@lanyard.test');
  const broken = await verifyByCommand(server);
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain(`entry ${altered}): The entry was altered after it was written.`);
});

test('a filter that is typed slowly keeps the focus, loses nothing and leaves no trail', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/licenses', server);
  await page.getByRole('link', { name: 'Audit Log' }).click();
  await button(page, 'Filters').click();
  const id = page.getByRole('textbox', { name: 'Resource ID' });
  // Each letter is debounced before the next one is typed.
  await id.pressSequentially('abcd', { delay: 450 });
  await expect(page).toHaveURL(/resourceId=abcd$/);
  await expect(id).toHaveValue('abcd');
  await expect(id).toBeFocused();
  await page.getByLabel('From', { exact: true }).pressSequentially('20.11.2026', { delay: 350 });
  await expect(page).toHaveURL(/from=2026-11-20$/);
  await page.goBack();
  await expect(page).toHaveURL('/licenses');
  await page.goForward();
  await expect(id).toHaveValue('abcd');
  await button(page, 'Clear Filters').click();
  await expect(id).toHaveValue('');

  await test.step('typing is asked for once it settles', async () => {
    await goTo(page, '/audit?page=2');
    await expect(search(page)).toBeVisible();
    const asked: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === audit.list.path && url.searchParams.has('search'))
        asked.push(url.searchParams.get('search')!);
    });
    const from = Date.now();
    await search(page).focus();
    // faster than any pause of a busy machine, which would be one between two searches
    await page.evaluate(() => {
      for (const letter of 'customer') document.execCommand('insertText', false, letter);
    });
    await expect.poll(() => asked).toEqual(['customer']);
    expect(Date.now() - from).toBeGreaterThan(300);
    await expect(page).toHaveURL(/\?search=customer$/);
  });
});

test('deletions wait while the clock is far from the time that the database has seen, until a user confirms it', async ({
  page,
  server,
}) => {
  const at = new Date(Date.now() - 31 * 24 * 3_600_000);
  await server.db
    .insertInto('newest_moment')
    .values({ at })
    .onConflict((conflict) => conflict.column('only_row').doUpdateSet({ at }))
    .execute();
  const notice = page.locator('[data-notice]').filter({ hasText: 'Permanent deletion is paused' });
  await signInAs(page, 'admin', '/audit', server);
  await expect(notice).toBeVisible();
  await goByKeys(page, 't');
  await expect(page.getByRole('link', { name: /^Permanent deletion is paused/ })).toBeVisible();
  await expect(notice).toHaveCount(0);
  await button(page, 'Confirm Clock').click();
  const confirmation = page.getByRole('dialog', { name: 'Confirm Clock' });
  await expect(confirmation).toContainText(/releases? in the recycle bin would be permanently deleted/);
  await confirmation.getByRole('button', { name: 'The Clock Is Right' }).click();
  await expectSaid(page, 'The clock is confirmed, and deletions resume');
  await expect(button(page, 'Confirm Clock')).toHaveCount(0);
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Audit Log' })).toBeVisible();
  await expect(notice).toHaveCount(0);
  const { at: newest } = await server.db.selectFrom('newest_moment').select('at').executeTakeFirstOrThrow();
  expect(Date.now() - newest.getTime()).toBeLessThan(24 * 3_600_000);
});
