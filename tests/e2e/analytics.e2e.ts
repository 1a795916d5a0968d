import { readFile } from 'node:fs/promises';
import { analytics, type LicenseTrends } from '../../contract/analytics.ts';
import { validationCodes } from '../../contract/validation.ts';
import { makeApiKey, makeCustomer, makeLicense, revoke, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import {
  day,
  expect,
  expectAccessible,
  expectStatus,
  inDays,
  quiet,
  rowOf,
  seenOn,
  signInAs,
  stayWithin,
  test,
  type ConsoleServer,
  type Page,
  shortDay,
} from './support.ts';

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const tile = (page: Page, name: string) => page.getByLabel('Totals').locator('div').filter({ hasText: name });
const period = (page: Page, name: string) =>
  page.getByRole('radiogroup', { name: 'Period' }).getByText(name, { exact: true });
const trends = (url: URL) => url.pathname.endsWith(analytics.trends.path);
const asTable = (page: Page, name: string) => card(page, name).getByText('Table', { exact: true }).click();
const drawing = (page: Page, name: string) => card(page, name).locator('svg.recharts-surface').first();

/** Asks again for what is shown: loading the page takes more CPU than anything else here. */
async function refresh(page: Page): Promise<void> {
  const answered = page.waitForResponse((answer) => trends(new URL(answer.url())));
  await page.getByRole('button', { name: 'Refresh', exact: true }).click();
  await answered;
  await quiet(page);
}

/** A day as the charts format it. */
const dayLabel = (iso: string) => shortDay(new Date(iso)).replace(/ \d+$/, '');

/**
 * A hospital with three machines on two versions, a laboratory whose license was revoked, and one license that ends in
 * ten days: four valid validations and two refused ones.
 */
async function useOfADay(server: ConsoleServer) {
  const { admin, db } = server;
  const desktop = server.api((await makeApiKey(admin)).headers);
  const hospital = await makeCustomer(admin, { name: 'Busy Hospital' });
  const laboratory = await makeCustomer(admin, { name: 'Quiet Laboratory' });
  const busy = await makeLicense(admin, { customerId: hospital.customerId, maxActivations: 5 });
  for (const machine of ['a', 'b', 'c'])
    await validateOn(desktop, busy, machine, { appVersion: machine === 'c' ? '4.10.0' : '4.9.0' });
  await validateOn(desktop, busy, 'a', { appVersion: '4.9.0' });
  const revoked = await makeLicense(admin, { customerId: laboratory.customerId });
  await revoke(admin, revoked);
  await validateOn(desktop, revoked, 'x');
  await validateOn(desktop, revoked, 'y');
  const counts = db.selectFrom('validation_days').select(['code', 'validations']).orderBy('code');
  await expect
    .poll(async () => (await counts.execute()).map((one) => `${one.code} ${one.validations}`))
    .toEqual(['REVOKED 2', 'VALID 4']);
  // Last: a change of licenses invalidates the server's cached figures.
  await makeLicense(admin, {
    customerId: hospital.customerId,
    validFrom: inDays(-30),
    validUntil: inDays(10),
  });
}

test('from nothing to the figures of a day: cards, charts, tables, exports', async ({
  page,
  freshServer: server,
}) => {
  await stayWithin(day);
  const today = new Date().toISOString().slice(0, 10);
  await signInAs(page, 'super_admin', '/licenses', server);
  await page.getByRole('link', { name: 'Analytics', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'License Analytics' })).toBeVisible();

  await test.step('nothing yet', async () => {
    await expect(page.getByLabel('Totals').getByRole('definition')).toHaveText([
      '0 now',
      '0 now',
      '0.00%',
      '0.00 ms',
    ]);
    for (const name of [
      'Active Users',
      'Validation Success Rate',
      'Response Time',
      'Refused Validations by Reason',
    ])
      await expect(card(page, name).getByText('No validations yet')).toBeVisible();
    // also true where all are refused
    await expect(card(page, 'Top 10 Customers').getByText('No machines in use')).toBeVisible();
    await expect(card(page, 'Licenses Expiring by Week').getByText('Nothing expires')).toBeVisible();
    await expect(card(page, 'Versions in the Field').getByText('No versions yet')).toBeVisible();
    await expect(page.getByRole('button', { name: /as CSV$/ })).toHaveCount(0);
  });

  await useOfADay(server);
  await page.reload();

  await test.step('the four cards', async () => {
    await expect(page.getByLabel('Totals').getByRole('term')).toHaveText([
      'Active Customers',
      'Active Licenses',
      'Error Rate',
      'Avg Response Time',
    ]);
    // those that are active, as in the list of customers, whether they have a license or not
    await expect(tile(page, 'Active Customers').getByRole('definition')).toHaveText('2 now');
    await expect(tile(page, 'Active Licenses')).toContainText('2');
    await expect(tile(page, 'Error Rate').getByRole('definition')).toHaveText('33.33%');
    await expect(tile(page, 'Avg Response Time').getByRole('definition')).toHaveText(/^\d+\.\d{2} ms$/);
  });

  await test.step('the four charts of the spec and those beside them', async () => {
    for (const name of [
      'Active Users',
      'Validation Success Rate',
      'Response Time',
      'Top 10 Customers',
      'Refused Validations by Reason',
      'Licenses Expiring by Week',
    ])
      await expect(drawing(page, name), name).toBeVisible();
    for (const name of ['Active Users', 'Validation Success Rate', 'Response Time'])
      await expect(card(page, name).locator('.recharts-line'), name).toHaveCount(1);
    // no line leads to the first day with validations
    for (const name of ['Validation Success Rate', 'Response Time'])
      await expect(drawing(page, name).locator('circle'), name).toHaveCount(1);
    await expect(card(page, 'Top 10 Customers').locator('.recharts-legend-wrapper p')).toHaveText([
      'Active Users',
      'Active Licenses',
    ]);
    for (const name of ['Active Users', 'Refused Validations by Reason']) {
      await expect(card(page, name).locator('[data-unfinished]'), name).toHaveCount(1);
      await expect(card(page, name).getByText('Dashed: today (UTC), so far.'), name).toBeVisible();
    }
    // a point is not dashed
    for (const name of ['Validation Success Rate', 'Response Time'])
      await expect(card(page, name).getByText('Dashed'), name).toHaveCount(0);
    await expect(card(page, 'Top 10 Customers').locator('.recharts-bar')).toHaveCount(2);
    const ticks = drawing(page, 'Validation Success Rate').locator('.recharts-yAxis-tick-labels text');
    await expect(ticks.first()).toHaveText('0%');
    await expect(ticks.last()).toHaveText('100%');
    for (const name of ['Active Users', 'Licenses Expiring by Week']) {
      const labels = drawing(page, name).locator('.recharts-xAxis-tick-labels text');
      const at = await labels.evaluateAll((all) => all.map((label) => Number(label.getAttribute('x'))));
      expect(at.length, name).toBeGreaterThan(2);
      const gaps = at.slice(1).map((x, index) => x - at[index]!);
      expect(Math.max(...gaps) - Math.min(...gaps), `${name}: uneven dates at ${at.join()}`).toBeLessThan(1);
    }
    await expectAccessible(page);
  });

  await test.step('reasons keep their color in every period, and their names are above the plot', async () => {
    const refusals = card(page, 'Refused Validations by Reason');
    let counts: number[] = [];
    await page.route(trends, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data: LicenseTrends };
      const codes = validationCodes.map((code, index) => ({ period: today, code, count: counts[index]! }));
      await route.fulfill({ response, json: { ...json, data: { ...json.data, codes } } });
    });
    const colors = async () => {
      await refresh(page);
      const items = refusals.locator('.recharts-legend-wrapper div:has(> p)');
      await expect(items).toHaveCount(validationCodes.length - 1);
      const found = await items.evaluateAll((all) =>
        all.map((item) => {
          const swatch = item.querySelector('[class*=colorOverlay]')!;
          return [item.textContent, getComputedStyle(swatch).backgroundColor] as const;
        }),
      );
      return new Map(found.toSorted(([a], [b]) => a.localeCompare(b)));
    };
    counts = validationCodes.map((_, index) => index + 1);
    const rising = await colors();
    expect(new Set(rising.values()).size).toBe(rising.size);
    counts = counts.toReversed();
    expect(await colors()).toEqual(rising);
    for (const width of [1366, 390, 320]) {
      await page.setViewportSize({ width, height: 720 });
      const gap = () =>
        refusals.evaluate((section) => {
          const boxes = (part: string) =>
            [...section.querySelectorAll(part)].map((one) => one.getBoundingClientRect());
          const names = boxes('.recharts-legend-wrapper p').map(({ bottom }) => bottom);
          return boxes('.recharts-cartesian-grid')[0]!.top - Math.max(...names);
        });
      await expect.poll(gap, `${width} px wide`).toBeGreaterThanOrEqual(0);
      expect((await refusals.locator('.recharts-cartesian-grid').boundingBox())!.height).toBeGreaterThan(100);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await quiet(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Refused Validations by Reason as PNG' }).click(),
    ]);
    const png = await readFile(await download.path());
    const drawn = async (part: string) => (await refusals.locator(part).first().boundingBox())!.height;
    expect(png.readUInt32BE(20)).toBe(
      Math.floor(2 * ((await drawn('svg.recharts-surface')) + (await drawn('.recharts-legend-wrapper')))),
    );
    // the first dot of the legend, in its color
    const dot = refusals.locator('.recharts-legend-wrapper [class*=colorOverlay]').first();
    const painted = await refusals.locator('[data-legend]').evaluate(
      async (legend, url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = document.createElement('canvas');
        const context = canvas.getContext('2d')!;
        const { left, top } = legend.getBoundingClientRect();
        const { x, y, width } = legend.querySelector('[class*=colorOverlay]')!.getBoundingClientRect();
        context.drawImage(image, -2 * (x - left + width / 2), -2 * (y - top + width / 2));
        return `rgb(${context.getImageData(0, 0, 1, 1).data.slice(0, 3).join(', ')})`;
      },
      `data:image/png;base64,${png.toString('base64')}`,
    );
    expect(painted).toBe(await dot.evaluate((one) => getComputedStyle(one).backgroundColor));
    await page.unroute(trends);
  });

  await test.step('no valid validation is a line at zero, not the lack of any', async () => {
    await page.route(trends, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data: LicenseTrends };
      const none = ({ period: of }: { period: string }) => ({ period: of, count: 0 });
      const { activations, successRate, codes } = json.data;
      const data = {
        ...json.data,
        activations: activations.map(none),
        successRate: successRate.map(none),
        codes: codes.filter(({ code }) => code !== 'VALID'),
      };
      await route.fulfill({ response, json: { ...json, data } });
    });
    await refresh(page);
    for (const name of ['Active Users', 'Validation Success Rate']) {
      await expect(card(page, name).locator('.recharts-line'), name).toHaveCount(1);
      await expect(card(page, name).getByRole('button', { name: /as CSV$/ }), name).toBeVisible();
    }
    await page.unroute(trends);
    await refresh(page);
  });

  await test.step('each as a table', async () => {
    const last = (name: string) => card(page, name).getByRole('row').last();
    const tables = {
      'Active Users': [dayLabel(today), '3'],
      'Validation Success Rate': [dayLabel(today), '66.67'],
      'Response Time': [dayLabel(today), /^\d+(\.\d+)?$/],
      'Refused Validations by Reason': [dayLabel(today), '2'],
      'Top 10 Customers': ['Busy Hospital', '3', '2'],
    };
    for (const [name, cells] of Object.entries(tables)) {
      await asTable(page, name);
      await expect(last(name).locator('th, td'), name).toHaveText(cells);
    }
    // also the days on which nothing was validated
    for (const name of Object.keys(tables).slice(0, 4))
      await expect(card(page, name).getByRole('row'), name).toHaveCount(9);
    await expect(card(page, 'Refused Validations by Reason').getByRole('columnheader')).toHaveText([
      'Day',
      'License revoked',
    ]);
    const head = (name: string) => card(page, name).getByRole('columnheader');
    await expect(head('Response Time')).toHaveText(['Day', 'ms']);
    await expect(head('Top 10 Customers')).toHaveText(['Customer', 'Active Users', 'Active Licenses']);
    await asTable(page, 'Licenses Expiring by Week');
    const weeks = card(page, 'Licenses Expiring by Week').getByRole('row');
    await expect(weeks).toHaveCount(15);
    await expect(weeks.filter({ has: page.getByRole('cell', { name: '1', exact: true }) })).toHaveCount(1);
    await expectAccessible(page);
  });

  await test.step('versions by customer, the newest first', async () => {
    const versions = card(page, 'Versions in the Field');
    await expect(versions.getByRole('columnheader')).toHaveText(['Customer', '4.10.0', '4.9.0']);
    await expect(rowOf(versions, 'Busy Hospital').getByRole('cell')).toHaveText(['1', '2']);
    await expect(versions.getByRole('link', { name: 'Busy Hospital' })).toHaveAttribute(
      'href',
      /^\/customers\//,
    );
  });

  await test.step('the period, in the address', async () => {
    await period(page, 'Month').click();
    await expect(page).toHaveURL(/\/analytics\?period=month$/);
    await expect.poll(() => card(page, 'Active Users').getByRole('row').count()).toBeGreaterThan(28);
    const asked = page.waitForRequest((request) => request.url().includes(analytics.trends.path));
    await period(page, 'Year').click();
    const query = new URL((await asked).url()).searchParams;
    expect(query.get('endDate')).toBe(today);
    expect(Number(today.slice(0, 4)) - Number(query.get('startDate')!.slice(0, 4))).toBe(1);
    await expect(card(page, 'Active Users').getByRole('columnheader').first()).toHaveText('Week of');
    // the header, and 52 or 53 weeks
    const rows = () => card(page, 'Active Users').getByRole('row').count();
    await expect.poll(async () => [53, 54].includes(await rows())).toBe(true);
    await page.reload();
    await expect(page).toHaveURL(/period=year$/);
    await expect(drawing(page, 'Active Users')).toBeVisible();
    await period(page, 'Week').click();
    await expect(page).toHaveURL(/\/analytics$/);
  });

  await test.step('a chart as CSV and PNG', async () => {
    const saved = async (format: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Top 10 Customers as ${format}` }).click(),
      ]);
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
    };
    const csv = await saved('CSV');
    expect(csv.name).toBe(`top-10-customers-${today}.csv`);
    expect(csv.bytes.toString()).toBe('\uFEFFCustomer,Active Users,Active Licenses\r\nBusy Hospital,3,2\r\n');
    const png = await saved('PNG');
    expect(png.name).toBe(`top-10-customers-${today}.png`);
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    const shown = (await drawing(page, 'Top 10 Customers').boundingBox())!;
    expect(png.bytes.readUInt32BE(16)).toBe(Math.floor(shown.width * 2));
    // A blank image would be far smaller.
    expect(png.bytes.length).toBeGreaterThan(5000);
  });

  await test.step('from what expires to the licenses', async () => {
    await page.getByRole('link', { name: 'Licenses by the day they expire' }).click();
    await expect(page).toHaveURL(/\/licenses\?sort=validUntil$/);
    await expect(page.getByRole('region', { name: 'Licenses' }).getByRole('row').nth(2)).toContainText(
      'Busy Hospital',
    );
  });
});

test('loading, and failures in the words of the spec, with a way to try again', async ({ page, server }) => {
  const everything = '**/api/analytics/**';
  const go = await holdBack(page, everything);
  await signInAs(page, 'super_admin', '/analytics', server);
  await expect(page.getByRole('status').getByText('Loading analytics...')).toBeVisible();
  go();
  await expect(page.getByLabel('Totals')).toBeVisible();
  // the figures of the week too, which those of the year stand in for
  await quiet(page);
  await page.unroute(everything);

  await test.step('no figure of a week is read or exported as that of a year', async () => {
    const outdated = page.locator('[inert]', { has: page.getByLabel('Totals') });
    await expect(outdated).toHaveCount(0);
    const comes = await holdBack(page, everything);
    await page.getByText('Year', { exact: true }).click();
    await expect(outdated).toHaveCSS('opacity', '0.5');
    comes();
    await expect(outdated).toHaveCount(0);
    await page.unroute(everything);
    await page.getByText('Week', { exact: true }).click();
  });

  expectStatus(page, 403, 'aborted');
  const failure = page.getByRole('heading', { name: 'Error loading analytics' });
  const failing: [
    path: string,
    answer: { status: number; body: string } | undefined,
    message: string | RegExp,
  ][] = [
    [analytics.health.path, { status: 403, body: '{}' }, 'Failed to fetch analytics data'],
    [
      analytics.trends.path,
      { status: 403, body: '{"success":false,"error":"Not today."}' },
      'Failed to fetch analytics data: Not today.',
    ],
    [analytics.trends.path, { status: 200, body: '{"success":false}' }, 'Failed to fetch trends data'],
    [analytics.customers.path, { status: 200, body: '{"success":false}' }, 'Failed to fetch customer data'],
    [analytics.health.path, undefined, /^An error occurred while fetching analytics/],
  ];
  // what is tried again after 1, 2 and 4 seconds fails soon; the clock of Playwright is at 1970 after some reloads
  await page.addInitScript(() => {
    const inTime = window.setTimeout.bind(window);
    const sooner = (run: TimerHandler, ms = 0) => inTime(run, ms < 1000 || ms > 4000 ? ms : ms / 20);
    Object.assign(window, { setTimeout: sooner });
  });
  for (const [path, answer, message] of failing) {
    await page.route(`**${path}*`, (route) =>
      answer ? route.fulfill({ ...answer, contentType: 'application/json' }) : route.abort(),
    );
    await page.reload();
    await expect(failure).toBeVisible();
    await expect(page.getByText(message, { exact: true })).toBeVisible();
    await page.unroute(`**${path}*`);
  }
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByLabel('Totals')).toBeVisible();
});

test('days become weeks with the figures of the year, which wait for nothing of the year before', async ({
  page,
  server,
}) => {
  await seenOn(server, await makeLicense(server.admin), 'm');
  await signInAs(page, 'super_admin', '/analytics', server);
  const outdated = page.locator('[inert]', { has: page.getByLabel('Totals') });
  const byWeek = page.getByText('The busiest day of each week.');
  await expect(card(page, 'Active Users')).toBeVisible();
  const isBefore = ({ pathname, searchParams }: URL) =>
    pathname === analytics.trends.path && searchParams.get('endDate')! < inDays(-1);
  const before = await holdBack(page, isBefore);
  const come = await holdBack(page, '**/api/analytics/**');
  await period(page, 'Year').click();
  await expect(outdated).toHaveCount(1);
  await expect(byWeek).toBeHidden();
  come();
  await expect(byWeek).toBeVisible();
  await expect(outdated).toHaveCount(0);
  before();
});
