import { program } from '../binaries.ts';
import { holdBack } from './hold-back.ts';
import { fileOnDisk } from './releases.ts';
import { expect, expectAccessible, test } from './support.ts';
import {
  choose,
  chunks,
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

test('after a reload another file is refused, and canceling forgets the upload', async ({ page, server }) => {
  const name = 'Interrupted.exe';
  await openForm(page, server);
  const free = await holdBack(page, chunks);
  await choose(page, await fileOfTwoChunks(page, name));
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
      `This is not the file that the upload started with. Choose the same, unchanged ${name}, or cancel this upload and start another.`,
    ),
  ).toBeVisible();
  free();
  await tray(page)
    .getByRole('button', { name: `Cancel ${name}` })
    .click();
  await page.getByRole('button', { name: 'Cancel Upload' }).click();
  await expect(tray(page).getByText('Upload cancelled')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Release Management' })).toBeVisible();
  await expect(tray(page)).toBeHidden();
});

test('after a reload the dialog shows the interrupted upload, to go on or to begin again', async ({
  page,
  server,
}) => {
  const name = 'Reloaded.exe';
  const wanted = version();
  const path = await fileOnDisk(name, program(21 * megabyte));
  await openForm(page, server);
  const free = await holdBack(page, chunks);
  await page.route(chunks, (route) => route.continue(), { times: 1 });
  await choose(page, path);
  await field(page, 'Version').fill(wanted);
  await field(page, 'Release Notes').fill('Kept over a reload');
  const asked: string[] = [];
  page.on('request', (request) => void (chunks.test(request.url()) && asked.push(request.url())));
  const stored = page.waitForResponse(chunks);
  await press(page, 'Upload Release');
  const first = (await stored).url();
  await expect(modal(page).getByText(/^Uploading · .* of 21\.00 MB/)).toBeVisible();
  page.once('dialog', (question) => void question.accept());
  await page.reload();
  await expect(modal(page).getByText(/^Interrupted/)).toBeVisible();
  await expect(
    modal(page).getByText(/Choose the same file again; uploaded parts are not sent again\./),
  ).toBeVisible();
  await expect(field(page, 'Version')).toHaveCount(0);
  await expectAccessible(page);
  free();
  asked.length = 0;
  await choose(page, path);
  await expect(modal(page)).toBeHidden();
  expect(asked).not.toContain(first);
  expect(asked).toHaveLength(2);
  expect(await found(server, wanted)).toMatchObject([{ releaseNotes: 'Kept over a reload' }]);
  // a finished upload is not shown again
  await page.goto(page.url());
  await expect(modal(page)).toBeHidden();
});

test('after a reload the details of an interrupted upload can be changed', async ({ page, server }) => {
  const wanted = version();
  const path = await fileOfTwoChunks(page, 'Renamed-arm64.exe');
  await openForm(page, server);
  const free = await holdBack(page, chunks);
  await choose(page, path);
  await field(page, 'Version').fill(wanted);
  const asked = page.waitForRequest(chunks);
  await press(page, 'Upload Release');
  await asked;
  await expect(modal(page).getByText(/^File too large\./)).toBeVisible();
  page.once('dialog', (question) => void question.accept());
  await page.reload();
  await press(page, 'Change Details');
  await expect(field(page, 'Version')).toHaveValue(wanted);
  await expect(select(page, 'Platform')).toHaveValue('Windows');
  await expect(select(page, 'Architecture')).toHaveValue('arm64');
  await expect(modal(page).getByText('Drop a file here or choose one')).toBeVisible();
  free();
  const corrected = version();
  const prepared: string[] = [];
  page.on('request', (request) => void (request.url().endsWith('/prepare') && prepared.push(request.url())));
  await choose(page, path);
  await field(page, 'Version').fill(corrected);
  await press(page, 'Upload Release');
  await expect(modal(page)).toBeHidden();
  // The upload goes on instead of starting again.
  expect(prepared).toEqual([]);
  expect(await found(server, corrected)).toHaveLength(1);
  expect(await found(server, wanted)).toEqual([]);
});
