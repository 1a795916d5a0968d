import { customers } from '../../contract/customers.ts';
import { uploads } from '../../contract/uploads.ts';
import { archive, program, noise } from '../binaries.ts';
import { makeLicense } from '../factories.ts';
import { endSessions } from './calls.ts';
import { holdBack } from './hold-back.ts';
import { fileOnDisk, makeRelease } from './releases.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectInSight,
  expectStatus,
  goTo,
  quiet,
  rowOf,
  signInAs,
  signInByForm,
  test,
  type Page,
  navigation,
} from './support.ts';
import {
  box,
  choose,
  chunks,
  create,
  field,
  fileOfTwoChunks,
  found,
  megabyte,
  modal,
  openForm,
  press,
  select,
  tray,
  version,
} from './uploads-screen.ts';

/** Begins to upload files of this name, one after another, and returns their versions. */
async function uploadInBackground(page: Page, names: string[]): Promise<string[]> {
  const versions = names.map(version);
  for (const [index, name] of names.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'New Release' }).click();
    await expect(field(page, 'Version')).not.toHaveValue('');
    await choose(page, await fileOfTwoChunks(page, name));
    await field(page, 'Version').fill(versions[index]!);
    await press(page, 'Upload Release');
    await press(page, 'Continue in Background');
    await expect(modal(page)).toBeHidden();
  }
  return versions;
}

const diskFull = {
  status: 507,
  json: {
    success: false,
    error: 'There is no space left for this file.',
    code: 'STORAGE_FULL',
    details: [],
    requestId: 'none',
  },
};

test('a small archive goes in one request and is a draft for macOS', async ({ page, server }) => {
  const path = await fileOnDisk('Lanyard-arm64-mac.zip', archive(200_000));
  const wanted = version();
  await openForm(page, server);
  await expect(box(page, 'Draft Release')).toBeChecked();
  await expect(field(page, 'Rollout Percentage')).toHaveValue('100');
  await expect(field(page, 'Rollout Percentage')).toBeDisabled();
  await expect(modal(page).getByText('All users will receive this update')).toHaveCount(0);
  await expect(modal(page).getByText('.exe, .dmg, .zip, .nupkg')).toBeVisible();

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
  await tray(page).hover();
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
  await expect(tray(page)).toBeHidden();

  await page.getByRole('button', { name: 'New Release' }).click();
  await expect(modal(page)).toBeVisible();
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
  await press(page, 'Change Details');
  await expect(modal(page).getByText('Again.exe')).toBeVisible();
  await expect(field(page, 'Version')).toHaveValue(taken.version);
  await field(page, 'Release Notes').fill('Typed once');
  await press(page, 'Upload Release');
  await expect(modal(page).getByText(/already/)).toBeVisible();
  await press(page, 'Cancel Again.exe');
  await dialog(page, 'Cancel Upload').getByRole('button', { name: 'Cancel Upload' }).click();
  await press(page, 'Remove Again.exe from this list');
  await expect(modal(page).getByText('Again.exe')).toBeVisible();
  await expect(field(page, 'Release Notes')).toHaveValue('Typed once');
  await field(page, 'Version').fill(other);
  await press(page, 'Upload Release');
  await expect(modal(page)).toBeHidden();
  expect(await found(server, other)).toHaveLength(1);
});

test('an upload can be paused, resumed and cancelled', async ({ page, server }) => {
  const name = 'Cancelled.exe';
  const wanted = version();
  await openForm(page, server);
  let free = await holdBack(page, chunks);
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
  free();
  await expect(tray(page)).toContainText('Paused · 48.00 MB of 49.00 MB');
  const { width, height } = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 600 });
  await expectInSight(tray(page).getByRole('button', { name: `Resume ${name}` }));
  await expectAccessible(page);
  await page.setViewportSize({ width, height });
  expect(sent).toHaveLength(6);
  free = await holdBack(page, chunks);
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
  await page.getByRole('button', { name: 'Keep Uploading' }).click();
  await expect(tray(page).getByText(/^Uploading · /)).not.toHaveCount(0);
  await inTray(`Cancel ${name}`).click();
  await page.getByRole('button', { name: 'Cancel Upload' }).click();
  await expect(tray(page).getByText('Upload cancelled')).toBeVisible();
  expect((await given).status()).toBeLessThan(300);
  free();

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

test('a double click cancels one upload once it is confirmed, and resumes one', async ({ page, server }) => {
  const names = ['Clicked one.exe', 'Clicked two.exe'];
  await signInAs(page, 'super_admin', create, server);
  const free = await holdBack(page, chunks);
  await uploadInBackground(page, names);
  await expect(tray(page).getByText(/^Uploading · /)).toHaveCount(2);
  const inTray = (control: string) => tray(page).getByRole('button', { name: control, exact: true });
  await inTray(`Cancel ${names[1]}`).dblclick();
  await page.getByRole('button', { name: 'Cancel Upload' }).dblclick();
  await expect(tray(page).getByText('Upload cancelled')).toHaveCount(1);
  await inTray(`Pause ${names[0]}`).click();
  await inTray(`Pause ${names[0]} immediately`).click();
  await inTray(`Resume ${names[0]}`).dblclick();
  await expect(inTray(`Pause ${names[0]}`)).toBeVisible();
  await inTray(`Cancel ${names[0]}`).click();
  const confirm = page.getByRole('button', { name: 'Cancel Upload' });
  await expect(confirm).toBeVisible();
  // the server has the whole file: nothing can be cancelled, and nothing asks again when its check fails
  expectStatus(page, 507);
  const complete = `**${uploads.complete.path}`;
  await page.route(complete, (route) => route.fulfill(diskFull), { times: 1 });
  const freeComplete = await holdBack(page, complete);
  free();
  await expect(confirm).toBeHidden();
  freeComplete();
  await expect(tray(page).getByText(/^Failed · /)).toBeVisible();
  await expect(confirm).toBeHidden();
  await inTray(`Retry ${names[0]}`).click();
  await expect(tray(page).getByText(/^Uploaded · /)).toBeVisible();
});

test('a chunk that the server refuses is named, and the upload can be tried again', async ({
  page,
  server,
}) => {
  expectStatus(page, 507);
  const wanted = version();
  const name = 'Disk full.exe';
  // the connection is lost before what reads the file is loaded: the upload waits for it
  await page.route(/hash-worker/, (route) => route.abort('internetdisconnected'), { times: 1 });
  await openForm(page, server);
  await page.route(chunks, (route) => route.fulfill(diskFull));
  await choose(page, await fileOnDisk(name, program(21 * megabyte)));
  await field(page, 'Version').fill(wanted);
  await press(page, 'Upload Release');
  await expect(modal(page).getByText(/^Failed to upload chunk \d+\/\d+/)).toBeVisible();
  await expect(modal(page).getByText(/There is no space left for this file\./)).toBeVisible();
  await page.unroute(chunks);
  await press(page, `Retry ${name}`);
  await expect(modal(page)).toBeHidden();
  expect(await found(server, wanted)).toHaveLength(1);
});

test('two uploads go on in the tray while staff look at other screens', async ({ page, server }) => {
  const names = ['Tray one.exe', 'Tray two-arm64.exe'];
  await signInAs(page, 'super_admin', create, server);
  const free = await holdBack(page, chunks);
  const versions = await uploadInBackground(page, names);
  await navigation(page).getByRole('link', { name: 'Customers' }).click();
  await expect(page).toHaveURL(/\/customers$/);
  for (const name of names)
    await expect(tray(page).getByRole('progressbar', { name: `Upload of ${name}` })).toBeAttached();
  await expect(tray(page).getByRole('heading')).toHaveText(/^2 uploads · \d+%$/);
  await expectAccessible(page);
  await tray(page).getByRole('button', { name: 'Fold uploads' }).press('Enter');
  await expect(tray(page).getByRole('button', { name: /^2 uploads/ })).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(tray(page).getByRole('button', { name: 'Fold uploads' })).toBeFocused();

  // who has signed in again is not told to sign in
  expectStatus(page, 401);
  await endSessions(page, 'super_admin', server, customers.list);
  await page.getByRole('searchbox').fill('any');
  await expect(page.getByText('Your session ended.')).toBeVisible();
  await signInByForm(page, (await server.person('super_admin')).email);
  await expect(tray(page).getByText('Your session ended. Resume sends the rest.')).toHaveCount(2);
  for (const name of names)
    await tray(page)
      .getByRole('button', { name: `Resume ${name}` })
      .click();
  free();
  await expect(tray(page).getByText(/^Uploaded · 9\.00 MB/)).toHaveCount(2);
  await expect(page).toHaveURL(/\/customers\?search=any$/);
  expect(await found(server, versions[0]!)).toHaveLength(1);
  expect(await found(server, versions[1]!)).toMatchObject([{ architecture: 'arm64' }]);
  await tray(page).getByRole('button', { name: 'Clear Finished' }).click();
  await expect(tray(page)).toBeHidden();
});

test('the tray folds where it covers what gets the focus', async ({ page, server }) => {
  await Promise.all([...Array(15)].map(() => makeLicense(server.admin)));
  await page.setViewportSize({ width: 1280, height: 900 });
  await signInAs(page, 'super_admin', create, server);
  const free = await holdBack(page, chunks);
  await uploadInBackground(page, ['Covering.exe']);
  await goTo(page, '/licenses');
  const next = page.getByRole('button', { name: 'Next page' });
  const unfold = tray(page).getByRole('button', { expanded: false });
  const cancel = tray(page).getByRole('button', { name: 'Cancel Covering.exe' });
  // what is beside it leaves it as it is
  await page.getByRole('searchbox').focus();
  await expectInSight(cancel);
  await next.focus();
  await expectInSight(next);
  await expect(next).toBeFocused();
  await unfold.click();
  await expectInSight(cancel);
  free();
  await expect(tray(page).getByText(/^Uploaded · /)).toBeVisible();
});

test('an upload is not finished by who signs in while its tab sleeps', async ({ page, server }) => {
  const name = 'Left behind.exe';
  await signInAs(page, 'super_admin', create, server);
  const free = await holdBack(page, chunks);
  const [wanted] = await uploadInBackground(page, [name]);
  // the session of another user takes the place of this one, without a moment between
  const other = await page.context().newPage();
  await signInAs(other, 'admin', '/customers', server);
  await expect(tray(page)).toBeHidden();
  free();
  await quiet(page);
  expect(await found(server, wanted!)).toEqual([]);
  await other.close();
  await signInAs(page, 'super_admin', '/releases', server);
  await expect(
    tray(page)
      .getByText(/^Interrupted/)
      .last(),
  ).toBeVisible();
});
