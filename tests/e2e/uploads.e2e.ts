import { releases } from '../../contract/releases.ts';
import { rollouts } from '../../contract/rollouts.ts';
import { uploads } from '../../contract/uploads.ts';
import { archive, diskImage, program, sha512Of } from '../binaries.ts';
import { fileOnDisk, makeRelease, noise } from './releases.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectStatus,
  rowOf,
  signInAs,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';

const megabyte = 1024 * 1024;
const create = '/releases?dialog=create';
const chunks = /\/binaries\/upload\/chunk\//;
const modal = (page: Page) => dialog(page, 'Upload New Release');
const tray = (page: Page) => page.getByRole('region', { name: 'Uploads' });
const field = (page: Page, name: string) => modal(page).getByRole('textbox', { name, exact: true });
const select = (page: Page, name: string) => modal(page).getByRole('combobox', { name });
const box = (page: Page, name: string) => modal(page).getByRole('checkbox', { name });
const press = (page: Page, name: string) => modal(page).getByRole('button', { name, exact: true }).click();
const choose = (page: Page, path: string) => modal(page).locator('input[type=file]').setInputFiles(path);
/** Error messages at the fields of the modal. */
const errors = (page: Page) => modal(page).locator('.mantine-InputWrapper-error');
const found = async (server: ConsoleServer, version: string) =>
  server.admin.ok(releases.list, { query: { search: version } });

let minor = 0;
/** A version that no other test of this file uses. */
const version = () => `7.${++minor}.0`;

/** Delays every chunk until `free` is called. */
async function holdChunks(page: Page): Promise<{ free(): Promise<void> }> {
  let free = () => {};
  const freed = new Promise<void>((resolve) => (free = resolve));
  await page.route(chunks, async (route) => {
    await freed;
    // The page may have aborted the request.
    await route.continue().catch(() => undefined);
  });
  return {
    async free() {
      free();
      await page.unroute(chunks);
    },
  };
}

async function openForm(page: Page, server: ConsoleServer): Promise<void> {
  await signInAs(page, 'binary_manager', create, server);
  await expect(field(page, 'Version')).not.toHaveValue('');
}

test('a small archive goes in one request and is a draft for macOS', async ({ page, server }) => {
  const path = await fileOnDisk('Lanyard-arm64-mac.zip', archive(200_000));
  const wanted = version();
  await openForm(page, server);
  await expect(box(page, 'Draft Release')).toBeChecked();
  await expect(field(page, 'Rollout Percentage')).toHaveValue('100');
  await expect(field(page, 'Rollout Percentage')).toBeDisabled();
  await expect(modal(page).getByText('All users will receive this update')).toHaveCount(0);
  await expect(modal(page).getByText('.exe, .dmg, .zip, .nupkg')).toBeVisible();
  await expectAccessible(page);

  await choose(page, path);
  await expect(modal(page).getByText('Lanyard-arm64-mac.zip')).toBeVisible();
  await expect(modal(page).getByText('195.31 KB')).toBeVisible();
  await expect(select(page, 'Platform')).toHaveValue('macOS');
  await expect(select(page, 'Architecture')).toHaveValue('arm64');
  await field(page, 'Version').fill(wanted);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  await press(page, 'Upload Release');
  await expect(modal(page)).toBeHidden();
  await expect(tray(page)).toContainText('Uploaded · 195.31 KB');
  expect(sent).toEqual([uploads.direct.path]);
  await expect(rowOf(page, 'macOS (arm64)').filter({ hasText: 'Draft' })).not.toHaveCount(0);
  const [release] = await found(server, wanted);
  expect(release).toMatchObject({
    platform: 'darwin',
    architecture: 'arm64',
    channel: 'stable',
    isDraft: true,
    isMandatory: false,
    rolloutPercentage: 100,
    fileSize: 200_000,
  });
  await expectAccessible(page);
  await tray(page).getByRole('link', { name: 'View releases' }).click();
  const editing = page.getByRole('dialog', { name: /^Edit Release/ });
  await expect(editing).toContainText(`Version ${wanted}`);
  await page.keyboard.press('Escape');
  // a finished upload disappears by itself once the pointer and focus have left the tray
  await page.mouse.move(0, 0);
  await page.getByRole('searchbox').or(page.getByPlaceholder('Search version or notes...')).first().focus();
  await expect(tray(page)).toBeHidden({ timeout: 30_000 });
});

test('platform and architecture follow from the name of the file', async ({ page, server }) => {
  await openForm(page, server);
  for (const [name, platform, architecture] of [
    ['Lanyard Setup.exe', 'Windows', 'x64'],
    ['Lanyard-aarch64.nupkg', 'Windows', 'arm64'],
    ['Lanyard-i386.exe', 'Windows', 'x86'],
    ['Lanyard-x86_64.dmg', 'macOS', 'x64'],
    ['Lanyard-x86.exe', 'Windows', 'x86'],
    ['Lanyard.zip', 'macOS', 'x64'],
  ] as const) {
    await choose(page, await fileOnDisk(name, program(512)));
    await expect(modal(page).getByText(name, { exact: true })).toBeVisible();
    await expect(select(page, 'Platform'), name).toHaveValue(platform);
    await expect(select(page, 'Architecture'), name).toHaveValue(architecture);
  }
});

test('the next version follows from the highest of that platform and channel', async ({ page, server }) => {
  const chooseAlphaForMacs = async () => {
    await openForm(page, server);
    await select(page, 'Channel').click();
    await page.getByRole('option', { name: 'alpha' }).click();
    await select(page, 'Platform').click();
    await expect(page.getByRole('option', { name: /Windows|macOS|Linux/ })).toHaveText(['Windows', 'macOS']);
    await page.getByRole('option', { name: 'macOS' }).click();
  };
  // No other test publishes alphas for Macs.
  await chooseAlphaForMacs();
  await expect(field(page, 'Version')).toHaveValue('0.1.0-alpha');
  await makeRelease(server, {
    version: '3.4.5-alpha',
    channel: 'alpha',
    platform: 'darwin',
    fileName: 'Lanyard.dmg',
    bytes: diskImage(2048),
  });
  await makeRelease(server, {
    version: '3.4.4',
    channel: 'alpha',
    platform: 'darwin',
    fileName: 'Lanyard.dmg',
    bytes: diskImage(2048),
  });
  await makeRelease(server, { version: '7.0.0-alpha', channel: 'alpha' });
  const asked = page.waitForResponse((answer) => /platform=darwin&channel=alpha/.test(answer.url()));
  await chooseAlphaForMacs();
  const { data } = (await (await asked).json()) as { data: unknown[] };
  expect(data, 'no more is loaded than the highest').toHaveLength(1);
  await expect(field(page, 'Version')).toHaveValue('3.4.6-alpha');
  const next = modal(page).getByRole('group', { name: 'Next version' });
  await next.getByRole('button', { name: 'minor 3.5.0-alpha' }).click();
  await expect(field(page, 'Version')).toHaveValue('3.5.0-alpha');
  await next.getByRole('button', { name: 'major 4.0.0-alpha' }).click();
  await expect(field(page, 'Version')).toHaveValue('4.0.0-alpha');
});

test('the name of the file says the version, and publishing to all is asked about', async ({
  page,
  server,
}) => {
  await openForm(page, server);
  await choose(page, await fileOnDisk('App-Setup-71.8.9.exe', program(2048)));
  await expect(field(page, 'Version')).toHaveValue('71.8.9');
  await field(page, 'Version').fill('71.9.0');
  await expect(modal(page).getByText('The file name says 71.8.9.')).toBeVisible();
  await expectAccessible(page);
  // a version that the user typed stays when another file is chosen
  await choose(page, await fileOnDisk('App-71.9.1-full.nupkg', archive(4096)));
  await expect(field(page, 'Version')).toHaveValue('71.9.0');
  await modal(page).getByRole('button', { name: 'Use 71.9.1' }).click();
  await expect(field(page, 'Version')).toHaveValue('71.9.1');
  await expect(modal(page).getByText(/The name of the file says/)).toHaveCount(0);
  await box(page, 'Draft Release').uncheck();
  await press(page, 'Upload Release');
  const question = dialog(page, 'Publish Release');
  await expect(question).toContainText(
    'Offer version 71.9.1 (stable) for Windows (x64) to all users at once?',
  );
  await expect(question).toContainText(/machines? of this platform, architecture and channel/i);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await found(server, '71.9.1')).toEqual([]);
  await press(page, 'Upload Release');
  await question.getByRole('button', { name: 'Publish' }).click();
  await expect(modal(page)).toBeHidden();
  expect(await found(server, '71.9.1')).toMatchObject([{ isDraft: false, rolloutPercentage: 100 }]);

  // next to an .exe of the same version, each shows its kind
  await makeRelease(server, { version: '71.9.1' });
  await page.goto(`${server.url}/releases?search=71.9.1`);
  const list = page.getByRole('region', { name: 'Releases', exact: true });
  await expect(rowOf(list, 'Windows.exe')).toHaveCount(1);
  await expect(rowOf(list, 'Windows.nupkg')).toHaveCount(1);
});

test('publishing in steps, beside what the previous release showed', async ({ page, server }) => {
  await server.admin.ok(rollouts.setDefault, {
    params: { channel: 'beta' },
    body: {
      plan: [
        { percentage: 3, hours: 12 },
        { percentage: 100, hours: null },
      ],
    },
  });
  await makeRelease(server, { version: '72.1.0-beta', channel: 'beta' });
  await openForm(page, server);
  await choose(page, await fileOnDisk('App-72.2.0-beta.exe', program(2048)));
  await expect(modal(page).getByText(/Empty: 5 %/)).toBeVisible();
  await box(page, 'Draft Release').uncheck();
  await expect(modal(page).getByRole('group', { name: 'Steps' })).toHaveCount(0);
  await select(page, 'Channel').click();
  await page.getByRole('option', { name: 'beta' }).click();
  await expect(modal(page).getByText('Empty: 5 %, since 72.1.0-beta has only 0 installs')).toBeVisible();
  await expect(field(page, 'Rollout Percentage')).toBeDisabled();
  await expect(field(page, 'Percentage of step 1')).toHaveValue('3');
  await field(page, 'Hours of step 1').fill('0');
  await press(page, 'Upload Release');
  await expect(modal(page).getByText('Must be a whole number from 1 to 2160')).toBeVisible();
  await field(page, 'Hours of step 1').fill('6');
  await expectAccessible(page);
  await press(page, 'Upload Release');
  const question = dialog(page, 'Publish Release');
  await expect(question).toContainText('Offer version 72.2.0-beta (beta) for Windows (x64) to 3 % of users?');
  await question.getByRole('button', { name: 'Publish' }).click();
  await expect(modal(page)).toBeHidden();
  expect(await found(server, '72.2.0-beta')).toMatchObject([
    {
      rolloutPercentage: 3,
      rolloutPlan: [
        { percentage: 3, hours: 6 },
        { percentage: 100, hours: null },
      ],
    },
  ]);
  await server.admin.ok(rollouts.setDefault, { params: { channel: 'beta' }, body: { plan: null } });
});

test('a draft cannot be mandatory, and keeps no rollout that is wrong', async ({ page, server }) => {
  await openForm(page, server);
  await expect(box(page, 'Mandatory Update')).toBeDisabled();
  await box(page, 'Draft Release').uncheck();
  await box(page, 'Mandatory Update').check();
  const rollout = field(page, 'Rollout Percentage');
  await rollout.fill('250');
  await rollout.blur();
  await expect(errors(page)).toHaveCount(1);
  await box(page, 'Draft Release').check();
  await expect(errors(page)).toHaveCount(0);
  await expect(rollout).toHaveValue('100');
  await expect(box(page, 'Mandatory Update')).not.toBeChecked();
  await expect(box(page, 'Mandatory Update')).toBeDisabled();
});

test('nothing is sent while a field is wrong', async ({ page, server }) => {
  await openForm(page, server);
  await field(page, 'Version').fill('');
  await press(page, 'Upload Release');
  await expect(errors(page)).toHaveText(['File is required', 'Version is required']);
  await field(page, 'Version').fill('1.2');
  await field(page, 'Minimum App Version').fill('one');
  await press(page, 'Upload Release');
  await expect(errors(page)).toHaveText([
    'File is required',
    'Invalid semantic version: 1.2',
    'Invalid semantic version: one',
  ]);
  await expectAccessible(page);

  await choose(page, await fileOnDisk('notes.txt', Buffer.from('text')));
  await expect(errors(page).first()).toHaveText('Accepted types: .exe, .dmg, .zip, .nupkg');

  await box(page, 'Draft Release').uncheck();
  const rollout = field(page, 'Rollout Percentage');
  await expect(modal(page).getByText('All users will receive this update')).toBeVisible();
  await rollout.fill('30');
  await expect(modal(page).getByText('Approximately 30% of users will receive this update')).toBeVisible();
  await rollout.fill('');
  await rollout.blur();
  await expect(rollout).toHaveValue('0');
  await expect(modal(page).getByText('Approximately 0% of users will receive this update')).toBeVisible();
});

test('a file that lies elsewhere needs an address, a size and a hash', async ({ page, server }) => {
  await openForm(page, server);
  await modal(page).getByText('File URL').click();
  await field(page, 'Version').fill('');
  await press(page, 'Create Release');
  await expect(errors(page)).toHaveText([
    'File URL is required',
    'Valid file size is required',
    'SHA512 hash is required',
    'Version is required',
  ]);
  await expectAccessible(page);

  await field(page, 'File URL').fill('ftp://files.example/Setup.exe');
  await field(page, 'File Size').fill('0');
  await field(page, 'SHA512').fill('abc');
  await field(page, 'Version').fill('v1');
  await press(page, 'Create Release');
  await expect(errors(page)).toHaveText([
    'Must be an http or https address',
    'Valid file size is required',
    'Must be a SHA-512 in base64 or hex',
    'Invalid semantic version: v1',
  ]);

  // The server resolves the host name first, and refuses private addresses.
  expectStatus(page, 422);
  await field(page, 'File URL').fill(`${server.url}/nothing/Setup.exe`);
  await field(page, 'File Size').fill('1024');
  await field(page, 'SHA512').fill(sha512Of(Buffer.alloc(1024)));
  await field(page, 'Version').fill(version());
  const logged = page.waitForEvent('console', (line) => line.type() === 'warning');
  await press(page, 'Create Release');
  expect((await logged).text()).toMatch(/^Failed to save release: /);
  await expect(errors(page)).not.toHaveCount(0);
  await expect(modal(page)).toBeVisible();
  await expect(field(page, 'File Size')).toHaveValue('1,024');
});

test('a release whose file lies elsewhere is made, listed and edited', async ({ page, server }) => {
  const wanted = version();
  const fileUrl = 'http://files.example/lanyard/Setup.exe';
  const sha512 = sha512Of(Buffer.alloc(1024));
  await openForm(page, server);
  await modal(page).getByText('File URL').click();
  await field(page, 'File URL').fill(fileUrl);
  await field(page, 'File Size').fill('1024');
  await field(page, 'SHA512').fill(sha512);
  await field(page, 'Version').fill(wanted);
  const call = page.waitForRequest(`**${releases.createFromUrl.path}`);
  await press(page, 'Create Release');
  expect((await call).postDataJSON()).toMatchObject({ version: wanted, fileUrl, fileSize: 1024, sha512 });
  await expect(modal(page)).toBeHidden();
  await expect(tray(page)).toBeHidden();

  const listed = page
    .getByRole('row')
    .filter({ has: page.getByRole('button', { name: `Edit ${wanted} `, exact: false }) });
  await expect(listed).toContainText('Draft');
  await expect(listed).toContainText('1.00 KB');
  await expect(listed).toContainText(sha512.slice(0, 8));
  await expect(listed.getByRole('link', { name: /^Download/ })).toHaveAttribute('href', fileUrl);

  await listed.getByRole('button', { name: /^Edit/ }).click();
  const editing = page.getByRole('dialog', { name: /^Edit Release/ });
  await editing.getByRole('textbox', { name: 'Release Notes' }).fill('Lies elsewhere');
  await editing.getByRole('button', { name: 'Save Changes' }).click();
  await expect(editing).toBeHidden();
  await expect(listed).toContainText('Lies elsewhere');
  expect(await found(server, wanted)).toMatchObject([
    { fileUrl, releaseNotes: 'Lies elsewhere', isDraft: true },
  ]);
});

test('a build that is there already is refused, and its details can be changed', async ({ page, server }) => {
  const taken = await makeRelease(server, { version: version() });
  expectStatus(page, 409);
  await openForm(page, server);
  await choose(page, await fileOnDisk('Again.exe', program(2048)));
  await field(page, 'Version').fill(taken.version);
  await press(page, 'Upload Release');
  await expect(modal(page).getByText(/^Failed · /)).toBeVisible();
  await expect(modal(page).getByText(/already/)).toBeVisible();
  await expectAccessible(page);
  const other = version();
  await press(page, 'Change details');
  await expect(modal(page).getByText('Again.exe')).toBeVisible();
  await expect(field(page, 'Version')).toHaveValue(taken.version);
  await field(page, 'Version').fill(other);
  await press(page, 'Upload Release');
  await expect(modal(page)).toBeHidden();
  expect(await found(server, other)).toHaveLength(1);
});

test('content that is not what the name says is refused', async ({ page, server }) => {
  expectStatus(page, 422);
  await openForm(page, server);
  await choose(page, await fileOnDisk('Not a program.exe', Buffer.from('MZ, they said')));
  await press(page, 'Upload Release');
  await expect(
    modal(page).getByText('The content is not a Windows program, as the name of the file says.'),
  ).toBeVisible();
});

test('a direct upload that is too large switches to chunks by itself', async ({ page, server }) => {
  expectStatus(page, 413);
  const wanted = version();
  await openForm(page, server);
  await page.route(
    `**${uploads.direct.path}`,
    (route) => route.fulfill({ status: 413, contentType: 'text/html', body: '<h1>Too large</h1>' }),
    { times: 1 },
  );
  const line = await holdChunks(page);
  const prepared = page.waitForResponse((answer) => answer.url().endsWith(uploads.prepare.path));
  await choose(page, await fileOnDisk('Large for its proxy.exe', program(3 * megabyte)));
  await field(page, 'Version').fill(wanted);
  await press(page, 'Upload Release');
  await expect(
    modal(page).getByText(
      'File too large. Files over 20MB require chunked upload. The upload will switch automatically.',
    ),
  ).toBeVisible();
  expect((await prepared).status()).toBe(201);
  await expectAccessible(page);
  await line.free();
  await expect(modal(page)).toBeHidden();
  expect(await found(server, wanted)).toMatchObject([{ fileSize: 3 * megabyte }]);
});

test('an upload can be paused, resumed and cancelled', async ({ page, server }) => {
  const name = 'Cancelled.exe';
  const wanted = version();
  await openForm(page, server);
  let line = await holdChunks(page);
  // one more than the number of concurrent chunks
  await choose(page, await fileOnDisk(name, program(49 * megabyte, noise(49 * megabyte, name))));
  await field(page, 'Version').fill(wanted);
  const sent: string[] = [];
  page.on('request', (request) => void (chunks.test(request.url()) && sent.push(request.url())));
  await press(page, 'Upload Release');
  await expect.poll(() => sent.length).toBe(6);
  const url = sent[0]!;
  await expectAccessible(page);
  await press(page, `Pause ${name}`);
  await expect(modal(page).getByText(/^Pausing\.\.\. · /)).toBeVisible();
  await modal(page).getByRole('button', { name: 'Close' }).last().click();
  await expect(
    tray(page)
      .getByText(/^Pausing\.\.\. · /)
      .first(),
  ).toBeVisible();
  await expectAccessible(page);
  await line.free();
  await expect(tray(page)).toContainText('Paused · 48.00 MB of 49.00 MB');
  await expectAccessible(page);
  expect(sent).toHaveLength(6);
  line = await holdChunks(page);
  const again = page.waitForRequest(chunks);
  const inTray = (control: string) => tray(page).getByRole('button', { name: control, exact: true });
  await inTray(`Resume ${name}`).click();
  await again;
  expect(new Set(sent).size).toBe(7);
  await expect(
    tray(page)
      .getByText(/^Uploading · /)
      .last(),
  ).toBeVisible();
  const given = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
  await inTray(`Cancel ${name}`).click();
  await expect(tray(page).getByText('Upload cancelled')).toBeVisible();
  expect((await given).status()).toBeLessThan(300);
  await expectAccessible(page);
  await line.free();

  // The server has deleted it, and a reload does not restore it.
  expect(await found(server, wanted)).toEqual([]);
  const uploadId = /chunk\/([^/]+)\//.exec(url)![1]!;
  const left = await server.db
    .selectFrom('uploads')
    .select('status')
    .where('upload_id', '=', uploadId)
    .execute();
  expect(left.filter(({ status }) => status === 'open')).toEqual([]);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Release Management' })).toBeVisible();
  await expect(tray(page)).toBeHidden();
});

test('a chunk that fails is sent once more at the end', async ({ page, server }) => {
  expectStatus(page, 503);
  const wanted = version();
  await openForm(page, server);
  await page.route(/\/chunk\/[^/]+\/0$/, (route) => route.fulfill({ status: 503, body: '{}' }), { times: 1 });
  await choose(page, await fileOnDisk('Retried.exe', program(21 * megabyte)));
  await field(page, 'Version').fill(wanted);
  await press(page, 'Upload Release');
  await expect(modal(page)).toBeHidden({ timeout: 20_000 });
  expect(await found(server, wanted)).toHaveLength(1);
});

test('a chunk that the server refuses is named, and the upload can be tried again', async ({
  page,
  server,
}) => {
  expectStatus(page, 507);
  const wanted = version();
  const name = 'Disk full.exe';
  await openForm(page, server);
  await page.route(chunks, (route) =>
    route.fulfill({
      status: 507,
      contentType: 'application/json',
      body: JSON.stringify({
        success: false,
        error: 'There is no space left for this file.',
        code: 'STORAGE_FULL',
        details: [],
        requestId: 'none',
      }),
    }),
  );
  await choose(page, await fileOnDisk(name, program(21 * megabyte)));
  await field(page, 'Version').fill(wanted);
  await press(page, 'Upload Release');
  await expect(modal(page).getByText(/^Failed to upload chunk \d+\/\d+/)).toBeVisible();
  await expect(modal(page).getByText(/There is no space left for this file\./)).toBeVisible();
  await page.unroute(chunks);
  await press(page, `Retry ${name}`);
  await expect(modal(page)).toBeHidden({ timeout: 20_000 });
  expect(await found(server, wanted)).toHaveLength(1);
});

test('after a reload another file is refused, and canceling forgets the upload', async ({ page, server }) => {
  const name = 'Interrupted.exe';
  await openForm(page, server);
  const line = await holdChunks(page);
  await choose(page, await fileOnDisk(name, program(21 * megabyte)));
  await field(page, 'Version').fill(version());
  const asked = page.waitForRequest(chunks);
  await press(page, 'Upload Release');
  await asked;
  page.once('dialog', (question) => void question.accept());
  await page.goto(`${server.url}/releases`);
  await expect(
    tray(page)
      .getByText(/^Interrupted/)
      .last(),
  ).toBeVisible();
  await expectAccessible(page);
  await tray(page)
    .locator('input[type=file]')
    .setInputFiles(await fileOnDisk('Other.exe', program(2048)));
  await expect(
    tray(page).getByText(
      `This is not the file that the upload started with. Choose the same, unchanged ${name}.`,
    ),
  ).toBeVisible();
  await line.free();
  await tray(page)
    .getByRole('button', { name: `Cancel ${name}` })
    .click();
  await expect(tray(page).getByText('Upload cancelled')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Release Management' })).toBeVisible();
  await expect(tray(page)).toBeHidden();
});

test('after a reload the dialog shows the interrupted upload, to go on or to begin anew', async ({
  page,
  server,
}) => {
  const name = 'Reloaded.exe';
  const wanted = version();
  const path = await fileOnDisk(name, program(21 * megabyte));
  await openForm(page, server);
  const line = await holdChunks(page);
  await choose(page, path);
  await field(page, 'Version').fill(wanted);
  await field(page, 'Release Notes').fill('Kept over a reload');
  const asked = page.waitForRequest(chunks);
  await press(page, 'Upload Release');
  await asked;
  page.once('dialog', (question) => void question.accept());
  await page.reload();
  await expect(modal(page).getByText(/^Interrupted/)).toBeVisible();
  await expect(modal(page).getByText(/Choose the same file again/)).toBeVisible();
  await expect(field(page, 'Version')).toHaveCount(0);
  await expectAccessible(page);
  await line.free();
  await choose(page, path);
  await expect(modal(page)).toBeHidden({ timeout: 30_000 });
  expect(await found(server, wanted)).toMatchObject([{ releaseNotes: 'Kept over a reload' }]);
  // a finished upload is not shown again
  await page.goto(page.url());
  await expect(modal(page)).toBeHidden();
});

test('after a reload the details of an interrupted upload can be changed', async ({ page, server }) => {
  const wanted = version();
  await openForm(page, server);
  const line = await holdChunks(page);
  await choose(page, await fileOnDisk('Renamed-arm64.exe', program(21 * megabyte)));
  await field(page, 'Version').fill(wanted);
  const asked = page.waitForRequest(chunks);
  await press(page, 'Upload Release');
  await asked;
  page.once('dialog', (question) => void question.accept());
  await page.reload();
  await press(page, 'Change details');
  await expect(field(page, 'Version')).toHaveValue(wanted);
  await expect(select(page, 'Platform')).toHaveValue('Windows');
  await expect(select(page, 'Architecture')).toHaveValue('arm64');
  await expect(modal(page).getByText('Drop a file here or choose one')).toBeVisible();
  await expect(tray(page)).toBeHidden();
  await line.free();
});

test('two uploads go on in the tray while staff look at other screens', async ({ page, server }) => {
  const names = ['Tray one.exe', 'Tray two-arm64.exe'];
  const versions = [version(), version()];
  await signInAs(page, 'super_admin', create, server);
  const line = await holdChunks(page);
  for (const [index, name] of names.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'New Release' }).click();
    await expect(field(page, 'Version')).not.toHaveValue('');
    await choose(page, await fileOnDisk(name, program(21 * megabyte, noise(21 * megabyte, name))));
    await field(page, 'Version').fill(versions[index]!);
    await press(page, 'Upload Release');
    await press(page, 'Continue in background');
    await expect(modal(page)).toBeHidden();
  }
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Customers' }).click();
  await expect(page).toHaveURL(/\/customers$/);
  for (const name of names)
    await expect(tray(page).getByRole('progressbar', { name: `Upload of ${name}` })).toBeAttached();
  await expect(tray(page).getByRole('heading')).toHaveText(/^2 uploads · \d+%$/);
  await expectAccessible(page);
  await tray(page).getByRole('button', { name: 'Fold uploads' }).click();
  await expect(tray(page).getByRole('button', { name: /^2 uploads/ })).toBeVisible();
  await expectAccessible(page);
  await tray(page)
    .getByRole('button', { name: /^2 uploads/ })
    .click();
  await line.free();
  await expect(tray(page).getByText(/^Uploaded · 21\.00 MB/)).toHaveCount(2, { timeout: 30_000 });
  await expect(page).toHaveURL(/\/customers$/);
  expect(await found(server, versions[0]!)).toHaveLength(1);
  expect(await found(server, versions[1]!)).toMatchObject([{ architecture: 'arm64' }]);
  await tray(page).getByRole('button', { name: 'Clear finished' }).click();
  await expect(tray(page)).toBeHidden();
});
