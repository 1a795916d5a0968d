import { releases } from '../../contract/releases.ts';
import { rollouts } from '../../contract/rollouts.ts';
import { uploads } from '../../contract/uploads.ts';
import { archive, diskImage, program, sha512Of } from '../binaries.ts';
import { fileOnDisk, makeRelease } from './releases.ts';
import { holdBack, holdFile } from './hold-back.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectBriefly,
  expectSaid,
  expectStatus,
  goTo,
  type Page,
  quiet,
  rowOf,
  signInAs,
  test,
} from './support.ts';
import {
  box,
  choose,
  field,
  found,
  modal,
  openForm,
  press,
  select,
  tray,
  version,
} from './uploads-screen.ts';
import { planOf } from '../plan-of.ts';

/** Error messages at the fields of the modal. */
const errors = (page: Page) => modal(page).locator('.mantine-InputWrapper-error');

test('what the form of a new release takes', async ({ page, server }) => {
  await openForm(page, server);

  await test.step('a file that is dropped beside the field is not opened by the browser', async () => {
    const isTaken = (type: string, files: boolean) =>
      page.evaluate(
        ([name, hasFile]) => {
          const dataTransfer = new DataTransfer();
          if (hasFile) dataTransfer.items.add(new File(['MZ'], 'Setup.exe'));
          const event = new DragEvent(name as string, { dataTransfer, bubbles: true, cancelable: true });
          document.querySelector('[role="dialog"] h2')!.dispatchEvent(event);
          return event.defaultPrevented;
        },
        [type, files],
      );
    for (const type of ['dragover', 'drop']) {
      expect(await isTaken(type, true)).toBe(true);
      expect(await isTaken(type, false)).toBe(false);
    }
    await page.keyboard.press('Escape');
    await expect(modal(page)).toBeHidden();
  });

  await test.step('a draft cannot be mandatory, and keeps no rollout that is wrong', async () => {
    await page.getByRole('button', { name: 'New Release' }).click();
    await expect(field(page, 'Version')).not.toHaveValue('');
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

  await test.step('nothing is sent while a field is wrong', async () => {
    await field(page, 'Version').fill('');
    await press(page, 'Upload Release');
    await expect(errors(page)).toHaveText(['File is required', 'Version is required']);
    const opensFiles = page.getByRole('button', { name: 'Choose File' });
    await expect(opensFiles).toHaveAccessibleDescription(/File is required/);
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
    const wrongType = 'Accepted types: .exe, .dmg, .zip, .nupkg';
    await expect(errors(page).first()).toHaveText(wrongType);
    // nor with the file before the one that was refused
    await field(page, 'Version').fill('71.2.3');
    await choose(page, await fileOnDisk('Lanyard-71.2.3.exe', program(1024)));
    await expect(modal(page).getByText('Lanyard-71.2.3.exe')).toBeVisible();
    await choose(page, await fileOnDisk('notes.txt', Buffer.from('text')));
    await expect(modal(page).getByText('Lanyard-71.2.3.exe')).toHaveCount(0);
    await field(page, 'Minimum App Version').fill('');
    await press(page, 'Upload Release');
    await expect(errors(page)).toHaveText([wrongType]);
    // the version still follows the name of the file
    await choose(page, await fileOnDisk('Lanyard-71.2.4.exe', program(1024)));
    await expect(field(page, 'Version')).toHaveValue('71.2.4');

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

  await test.step('content that is not what the name says is refused before it is sent', async () => {
    await choose(page, await fileOnDisk('Not a program.exe', Buffer.from('MZ, they said')));
    await expect(
      modal(page).getByText('The content is not a Windows program, as the name of the file says.'),
    ).toBeVisible();
    await choose(page, await fileOnDisk('Nothing.exe', Buffer.alloc(0)));
    await expect(modal(page).getByText('The file is empty.')).toBeVisible();
    await press(page, 'Upload Release');
    // not that a file is required
    await expect(modal(page).getByText('The file is empty.')).toBeVisible();
    await choose(page, await fileOnDisk('Setup.exe', program(2048)));
    await expect(modal(page).getByText('Setup.exe')).toBeVisible();
  });
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
  const fields = { channel: 'alpha', platform: 'darwin', fileName: 'Lanyard.dmg' } as const;
  const alphaForMacs = (given: string) =>
    makeRelease(server, { ...fields, version: given, bytes: diskImage(2048) });
  await alphaForMacs('3.4.5-alpha');
  await alphaForMacs('3.4.4');
  await makeRelease(server, { version: '7.0.0-alpha', channel: 'alpha' });
  const deleted = await alphaForMacs('3.4.6-alpha');
  await server.admin.ok(releases.softDelete, { params: { releaseId: deleted.id }, body: { reason: 'bad' } });
  await page.reload();
  const asked = page.waitForResponse((answer) => /platform=darwin&channel=alpha/.test(answer.url()));
  await chooseAlphaForMacs();
  const { data } = (await (await asked).json()) as { data: unknown[] };
  expect(data, 'no more is loaded than the highest').toHaveLength(1);
  await expect(field(page, 'Version')).toHaveValue('3.4.7-alpha');
  const next = modal(page).getByRole('group', { name: 'Next version' });
  await next.getByRole('button', { name: 'minor 3.5.0-alpha' }).click();
  await expect(field(page, 'Version')).toHaveValue('3.5.0-alpha');
  await next.getByRole('button', { name: 'major 4.0.0-alpha' }).click();
  await expect(field(page, 'Version')).toHaveValue('4.0.0-alpha');
});

test('what comes late changes nothing that is entered', async ({ page, server }) => {
  await signInAs(page, 'binary_manager', '/releases', server);

  await test.step('a suggestion that arrives late changes nothing under the cursor', async () => {
    await makeRelease(server, { platform: 'darwin', fileName: 'Lanyard.dmg', bytes: diskImage(2048) });
    await openForm(page, server);
    const free = await holdBack(page, /platform=darwin/);
    await choose(page, await fileOnDisk('Lanyard.dmg', diskImage(1024)));
    await expect(select(page, 'Platform')).toHaveValue('macOS');
    await field(page, 'Version').focus();
    free();
    const patch = modal(page).getByRole('button', { name: /^patch / });
    await expect(patch).toHaveAttribute('aria-pressed', 'false');
    await expect(field(page, 'Version')).toHaveValue('');
    await press(page, 'Upload Release');
    await expect(errors(page), 'nor is it sent by the click that leaves the field').toContainText([
      'Version is required',
    ]);
    await patch.click();
    await expect(field(page, 'Version')).not.toHaveValue('');
    const shown = await field(page, 'Version').inputValue();
    await field(page, 'Version').focus();
    await choose(page, await fileOnDisk('Lanyard.exe', program(1024)));
    await expect(select(page, 'Platform')).toHaveValue('Windows');
    await press(page, 'Upload Release');
    await expectSaid(page, `Release ${shown} uploaded`);
    await expect(modal(page)).toBeHidden();
  });

  await test.step('neither a slow file nor a release that is made meanwhile changes the version that was seen', async () => {
    await openForm(page, server);
    await quiet(page);
    const seen = await field(page, 'Version').inputValue();
    const free = await holdBack(page, `**${uploads.direct.path}`);
    await choose(page, await fileOnDisk('Twin-x64.exe', program(1024)));
    await press(page, 'Upload Release');
    await press(page, 'Continue in Background');
    await page.getByRole('button', { name: 'New Release' }).click();
    await choose(page, await fileOnDisk('Twin-arm64.exe', program(1024)));
    await expect(field(page, 'Version')).toHaveValue(seen);
    const loaded = page.waitForResponse(/platform=win32&channel=stable/);
    await expectBriefly(page.getByText(`Release ${seen} uploaded`), async () => {
      free();
      await loaded;
    });
    await quiet(page);
    await expect(field(page, 'Version')).toHaveValue(seen);

    const slow = await holdFile(page, 'arrayBuffer');
    await choose(page, await fileOnDisk('Late-71.2.3.exe', program(1024)));
    await field(page, 'Version').fill('71.2.4');
    await expect(modal(page).getByRole('button', { name: 'Upload Release' })).toBeDisabled();
    await field(page, 'Version').press('Enter');
    await expect(tray(page).getByText('Twin-arm64.exe'), 'nor the file before').toHaveCount(0);
    await slow();
    await expect(modal(page).getByText('The file name says 71.2.3.')).toBeVisible();
    await expect(field(page, 'Version')).toHaveValue('71.2.4');
    await press(page, 'Upload Release');
    await expectSaid(page, 'Release 71.2.4 uploaded');
    await expect(modal(page)).toBeHidden();
  });

  await test.step('a file that is still read changes nothing that is entered meanwhile', async () => {
    await openForm(page, server);
    const slow = await holdFile(page, 'arrayBuffer');
    await choose(page, await fileOnDisk('Late.exe', program(1024)));
    await modal(page).getByText('File URL', { exact: true }).click();
    await expect(modal(page).getByRole('button', { name: 'Create Release' })).toBeEnabled();
    await select(page, 'Platform').click();
    await page.getByRole('option', { name: 'macOS' }).click();
    await slow();
    await modal(page).getByText('Upload a file', { exact: true }).click();
    await expect(modal(page).getByText('Drop a file here or choose one')).toBeVisible();
    await expect(select(page, 'Platform')).toHaveValue('macOS');

    await field(page, 'Version').fill('');
    await press(page, 'Upload Release');
    await expect(errors(page)).toContainText(['File is required', 'Version is required']);
    const refused = await holdFile(page, 'arrayBuffer');
    await choose(page, await fileOnDisk('Empty.exe', Buffer.alloc(0)));
    await field(page, 'Version').fill('72.1.0');
    await refused();
    await expect(errors(page)).not.toContainText(['File is required']);
    await expect(errors(page)).toHaveCount(1);

    const late = await holdFile(page, 'arrayBuffer');
    await choose(page, await fileOnDisk('Late.exe', program(1024)));
    const dataTransfer = await page.evaluateHandle(() => {
      const dropped = new DataTransfer();
      for (const name of ['One.exe', 'Two.exe']) dropped.items.add(new File(['MZ'], name));
      return dropped;
    });
    const place = modal(page).getByText('Drop a file here or choose one');
    await place.dispatchEvent('drop', { dataTransfer });
    await expect(errors(page)).toHaveText(['Drop one file at a time']);
    await late();
    await select(page, 'Channel').click();
    await expect(page.getByRole('option', { name: 'alpha' })).toBeVisible();
    await expect(errors(page)).toHaveText(['Drop one file at a time']);
    await expect(place).toBeVisible();
  });
});

test('publishing in steps, beside what the previous release showed', async ({ page, server }) => {
  await server.admin.ok(rollouts.setDefault, {
    params: { channel: 'beta' },
    body: {
      plan: planOf([3, 12], [100]),
    },
  });
  await makeRelease(server, { version: '72.1.0-beta', channel: 'beta' });
  const answer = await holdBack(page, `**${rollouts.defaults.path}`);
  await openForm(page, server);
  await choose(page, await fileOnDisk('App-72.2.0-beta.exe', program(2048)));
  // Nobody publishes before the suggested steps are known.
  await expect(box(page, 'Draft Release')).toBeDisabled();
  answer();
  await expect(modal(page).getByText(/Empty: 5 %/)).toBeVisible();
  await box(page, 'Draft Release').uncheck();
  await expect(modal(page).getByRole('group', { name: 'Steps' })).toHaveCount(0);
  await select(page, 'Channel').click();
  await page.getByRole('option', { name: 'beta' }).click();
  await expect(
    modal(page).getByText('Empty: 5 %, since 72.1.0-beta has no installs to compare with'),
  ).toBeVisible();
  await expect(field(page, 'Rollout Percentage')).toBeDisabled();
  await expect(field(page, 'Percentage of step 1')).toHaveValue('3');
  await field(page, 'Hours of step 1').fill('0');
  await press(page, 'Upload Release');
  await expect(modal(page).getByText('Must be a whole number from 1 to 2160')).toBeVisible();
  await field(page, 'Hours of step 1').fill('6');
  // a slip, which keeps what was typed
  await box(page, 'Draft Release').check();
  await box(page, 'Draft Release').uncheck();
  await expect(field(page, 'Hours of step 1')).toHaveValue('6');
  await expectAccessible(page);
  const question = dialog(page, 'Publish Release');
  const offer = 'Offer version 72.2.0-beta (beta) for Windows (x64) to 3 % of users';
  await field(page, 'Start').fill('31 Dec 2099, 08:00');
  await press(page, 'Upload Release');
  await expect(question).toContainText(`${offer} from 31 Dec 2099, 08:00:00?`);
  await expect(question).toContainText('It goes on by itself, in steps: 3 % for 6 h, 100 %.');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await field(page, 'Start').fill('');
  await press(page, 'Upload Release');
  await expect(question).toContainText(`${offer}?`);
  await question.getByRole('button', { name: 'Publish' }).click();
  await expect(modal(page)).toBeHidden();
  expect(await found(server, '72.2.0-beta')).toMatchObject([
    {
      rolloutPercentage: 3,
      rolloutPlan: planOf([3, 6], [100]),
    },
  ]);
  await server.admin.ok(rollouts.setDefault, { params: { channel: 'beta' }, body: { plan: null } });
});

test('a release from another address, and the version that its file names', async ({ page, server }) => {
  await signInAs(page, 'binary_manager', '/releases', server);

  await test.step('a release whose file lies elsewhere is made, listed and edited', async () => {
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

  await test.step('the name of the file says the version, and publishing to all is asked about', async () => {
    await openForm(page, server);
    await choose(page, await fileOnDisk('App-Setup-71.8.9.exe', program(2048)));
    await expect(field(page, 'Version')).toHaveValue('71.8.9');
    await field(page, 'Version').fill('71.9.0');
    await expect(modal(page).getByText('The file name says 71.8.9.')).toBeVisible();
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
    await goTo(page, '/releases?search=71.9.1');
    const list = page.getByRole('region', { name: 'Releases', exact: true });
    await expect(rowOf(list, 'Windows.exe')).toHaveCount(1);
    await expect(rowOf(list, 'Windows.nupkg')).toHaveCount(1);
  });

  await test.step('a file that lies elsewhere needs an address, a size and a hash', async () => {
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
    await field(page, 'Minimum App Version').fill('one');
    // said as each field is left, before anything is sent
    await field(page, 'Minimum App Version').blur();
    await expect(errors(page)).toHaveText([
      'Must be an http or https address',
      'Valid file size is required',
      'Must be a SHA-512 in base64 or hex',
      'Invalid semantic version: v1',
      'Invalid semantic version: one',
    ]);
    await field(page, 'Minimum App Version').fill('');

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
});
