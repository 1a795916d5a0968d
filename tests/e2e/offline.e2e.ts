import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { encodeQR } from 'qr';
import { offline } from '../../contract/offline.ts';
import { machinesOf, makeLicense, unique } from '../factories.ts';
import { clickTwice } from './calls.ts';
import { holdBack, holdFile } from './hold-back.ts';
import { claimsOf, offlineMachine } from '../offline-machine.ts';
import { hospitalMachine, shownText } from './desktop-program.ts';
import { qrTextOf } from './qr.ts';
import {
  day,
  dialog,
  expect,
  expectAccessible,
  expectStatus,
  rowOf,
  signInAs,
  test,
  type Page,
} from './support.ts';

/** Another letter in the middle of the signature: in the content it may leave no valid JSON. */
const altered = (text: string) => {
  const middle = Math.floor((text.lastIndexOf('.') + text.length) / 2);
  return text.slice(0, middle) + (text[middle] === 'A' ? 'B' : 'A') + text.slice(middle + 1);
};

const photoOf = (text: string) => ({
  name: 'photo.gif',
  mimeType: 'image/gif',
  buffer: Buffer.from(encodeQR(text, 'gif', { scale: 4, border: 4, ecc: 'low' })),
});

/** Gives the page a camera that looks at this QR code. */
const holdToCamera = (page: Page, text: string) =>
  page.addInitScript(
    (url) => {
      navigator.mediaDevices.getUserMedia = async () => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.width + 80, image.height + 40];
        const context = canvas.getContext('2d')!;
        setInterval(() => {
          context.fillStyle = '#777';
          context.fillRect(0, 0, canvas.width, canvas.height);
          context.drawImage(image, 50, 10);
        }, 50);
        return canvas.captureStream(20);
      };
    },
    encodeQR(text, 'data-url', { scale: 4, border: 4, ecc: 'low' }),
  );

const open = (page: Page, name: string) =>
  dialog(page, 'License Activations').getByRole('button', { name, exact: true }).click();

test('a workstation without network gets a license file, and gives its seat back by a receipt', async ({
  page,
  server,
}) => {
  expectStatus(page, 409, 422);
  const license = await makeLicense(server.admin, { maxActivations: 1 });
  const machineId = unique('ws').replace(' ', '-');
  const start = await hospitalMachine(server, license);
  const program = await start(machineId);
  expect(program.greeting).toContain(`on machine ${machineId}\nNOT VALID (none, NO_ANSWER)`);
  const request = shownText(await program.type('request'));
  // it leaves this list with its first seat
  await signInAs(page, 'super_admin', `/licenses?seats=empty&activations=${license.licenseKey}`, server);
  const modal = dialog(page, 'License Activations');
  const form = dialog(page, 'Offline Activation');
  const issued = dialog(page, 'License File');
  let file = '';

  await test.step('a wrong request: said at the field, which keeps it', async () => {
    await open(page, 'Offline Activation');
    await form.getByRole('button', { name: 'Create License File' }).click();
    await expect(form.getByText('Request is required')).toBeVisible();
    const field = form.getByRole('textbox', { name: 'Request' });
    await field.fill(altered(request));
    await form.getByRole('button', { name: 'Create License File' }).click();
    await expect(form.getByText(/changed after the machine signed it/)).toBeVisible();
    await expect(field).toHaveValue(altered(request));
    await expectAccessible(page);
    // nor is the request before taken for that of a file that is refused
    const choose = (name: string, mimeType: string, text: string) =>
      form.locator('input[type=file]').setInputFiles({ name, mimeType, buffer: Buffer.from(text) });
    await choose('request.txt', 'text/plain', request);
    await expect(field).toHaveValue(request);
    const said = form.getByRole('status').filter({ hasText: 'Request read from' });
    await expect(said).toHaveText('Request read from request.txt');
    await choose('photo.gif', 'image/gif', 'no picture');
    await expect(form.getByText('photo.gif is not an image')).toBeVisible();
    await expect(field).toHaveValue('');
    await expect(said).toHaveCount(0);
    await field.fill(altered(request));
    const days = form.getByRole('textbox', { name: 'Days Offline' });
    await expect(days).toHaveValue('90');
    await days.fill('367');
    await form.getByRole('button', { name: 'Create License File' }).click();
    await expect(form.getByText('Must be a whole number from 1 to 366')).toBeVisible();
    await days.fill('30');
    // the question and the form above the machines close at once
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).press('Enter');
    await expect(modal.getByRole('button', { name: 'Offline Activation' })).toBeFocused();
    await page.keyboard.press('Enter');
    await days.fill('30');
  });

  await test.step('the request as it was pasted from a mail becomes a license file', async () => {
    await form.getByRole('textbox', { name: 'Request' }).fill(request.replaceAll(/.{70}/g, '$&\n  '));
    const made = await clickTwice(form.getByRole('button', { name: 'Create License File' }), offline.issue);
    await expect(issued).toContainText(machineId);
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      issued.getByRole('link', { name: 'Download' }).click(),
    ]);
    file = await readFile(await download.path(), 'utf8');
    expect(await qrTextOf(issued.getByRole('img', { name: 'The license file as a QR code' }))).toBe(file);
    // Escape is not the end of what was not saved yet.
    await page.keyboard.press('Escape');
    expect(made()).toBe(1);
    const [own] = await machinesOf(server.admin, license);
    const files = server.db.selectFrom('license_files').where('activation_id', '=', own!.activationId);
    expect(await files.select('file_id').execute()).toHaveLength(1);
    await issued.getByRole('button', { name: 'Done' }).click();
    await expect(modal).toContainText('1/1');
    await expect(rowOf(modal, machineId)).toContainText(hostname());
    await expect(rowOf(modal, machineId).getByText(/^Offline until /)).toBeVisible();
    await expectAccessible(page);
  });

  let restarted = program;
  await test.step('the program runs by it, and by nothing else', async () => {
    const take = async (one: typeof program, text: string) => {
      await one.type('import');
      return one.type(text);
    };
    expect(await take(program, altered(file))).toMatch(/was changed|not a license file/);
    expect(await program.type('check')).toMatch(/^NOT VALID/);
    expect(await take(program, file)).toMatch(/^Licensed until /);
    await program.quit();
    restarted = await start(machineId);
    expect(restarted.greeting).toContain(`VALID (file, VALID): The license file is valid until`);
    expect(restarted.greeting).toContain(`modules ${license.moduleIds.join(', ')};`);
  });

  await test.step('taking the seat by force names what it means, and waits for consent', async () => {
    await rowOf(modal, machineId).getByRole('button', { name: 'Deactivate' }).click();
    const question = dialog(page, 'Deactivate Machine');
    await expect(question).toContainText('so the seat may be used twice until then');
    await question.getByRole('button', { name: 'Deactivate by Force' }).click();
    await expect(question.getByText('Accept this to deactivate the machine')).toBeVisible();
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Cancel' }).click();
  });

  await test.step('the receipt frees the seat, once', async () => {
    const given = await restarted.type('give-back');
    expect(given).toContain('Give the receipt to the vendor');
    const receipt = shownText(given);
    expect(await restarted.type('check')).toMatch(/^NOT VALID/);
    await restarted.quit();
    const back = dialog(page, 'Return Receipt');
    const enter = async (text: string) => {
      await back.getByRole('textbox', { name: 'Receipt' }).fill(text);
      await back.getByRole('button', { name: 'Free the Seat' }).click();
    };
    await open(page, 'Return Receipt');
    await enter(request);
    await expect(back.getByText('This is a request for a license file, not a return receipt')).toBeVisible();
    await expectAccessible(page);
    await back.getByRole('textbox', { name: 'Receipt' }).fill(receipt);
    const made = await clickTwice(back.getByRole('button', { name: 'Free the Seat' }), offline.giveBack);
    await expect(modal).toContainText('0/1');
    await expect(rowOf(modal, machineId)).toContainText('Released');
    await expect(rowOf(modal, machineId).getByText(/^Offline until /)).toHaveCount(0);
    expect(made()).toBe(1);
    await open(page, 'Return Receipt');
    await enter(receipt);
    await expect(back.getByRole('alert')).toContainText('This receipt was entered already');
    await expect(back.getByRole('textbox', { name: 'Receipt' })).toHaveValue(receipt);
  });
});

test('a request comes by the camera, by a photo or as a file; force frees the seat', async ({
  page,
  server,
}) => {
  const license = await makeLicense(server.admin);
  const [scanned, sent] = [offlineMachine(unique('ws')), offlineMachine(unique('ws'))];
  await holdToCamera(page, scanned.request(license));
  await signInAs(page, 'super_admin', `/licenses?activations=${license.licenseKey}`, server);
  const modal = dialog(page, 'License Activations');
  const form = dialog(page, 'Offline Activation');
  const field = form.getByRole('textbox', { name: 'Request' });
  const choose = async (file: { name: string; mimeType: string; buffer: Buffer }) => {
    const chooser = page.waitForEvent('filechooser');
    await form.getByRole('button', { name: 'Choose File or Photo' }).click();
    await (await chooser).setFiles(file);
  };

  await open(page, 'Offline Activation');
  await form.getByRole('button', { name: 'Scan QR Code' }).press('Enter');
  await expect(field).toHaveValue(/^ey/);
  await expect(field).toBeFocused();
  await expect(form.getByRole('button', { name: 'Scan QR Code' })).toBeVisible();
  expect(claimsOf(await field.inputValue())['machineId']).toBe(scanned.machineId);

  await field.fill('');
  await choose({ name: 'empty.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') });
  await expect(form.getByText('empty.gif is not an image that the browser can show.')).toBeVisible();
  await choose(photoOf(sent.request(license)));
  await expect(field).toHaveValue(/^ey/);
  await field.fill('');
  await choose({ name: 'big.iso', mimeType: '', buffer: Buffer.alloc(5000, 'a') });
  await expect(form.getByText(/^big\.iso is not a file of the program/)).toBeVisible();
  const text = sent.request(license);
  const slow = await holdFile(page, 'text');
  await choose({ name: 'ws.txt', mimeType: 'text/plain', buffer: Buffer.from(`${text}\n`) });
  await expect(form.getByRole('button', { name: 'Create License File' })).toBeDisabled();
  await slow();
  await expect(field).toHaveValue(text);
  await form.getByRole('button', { name: 'Create License File' }).click();
  await dialog(page, 'License File').getByRole('button', { name: 'Done' }).click();

  // for the server, no file ends by the clock of this browser
  await page.clock.setFixedTime(Date.now() + 200 * day);
  await page.reload();
  await rowOf(modal, sent.machineId).getByRole('button', { name: 'Deactivate' }).click();
  const question = dialog(page, 'Deactivate Machine');
  await expect(question.getByRole('checkbox')).toBeFocused();
  await page.keyboard.press('Space');
  await question.getByRole('button', { name: 'Deactivate by Force' }).press('Enter');
  await expect(rowOf(modal, sent.machineId)).toContainText('Deactivated');
  // the file is out there all the same
  await page.clock.setFixedTime(Date.now());
  await page.reload();
  await expect(rowOf(modal, sent.machineId).getByText(/^Offline until /)).toBeVisible();
  const [left] = await machinesOf(server.admin, license);
  expect(left).toMatchObject({ machineId: sent.machineId, status: 'deactivated' });
});

test('the camera goes off when it is stopped, also before what reads the codes has loaded', async ({
  page,
  server,
}) => {
  const license = await makeLicense(server.admin);
  await holdToCamera(page, 'of nobody');
  const load = await holdBack(page, '**/assets/decode-*.js');
  await signInAs(page, 'super_admin', `/licenses?activations=${license.licenseKey}`, server);
  await open(page, 'Offline Activation');
  const form = dialog(page, 'Offline Activation');
  const asked = page.waitForRequest('**/assets/decode-*.js');
  await form.getByRole('button', { name: 'Scan QR Code' }).click();
  await asked;
  const track = await form
    .locator('video')
    .evaluateHandle((video: HTMLVideoElement) => (video.srcObject as MediaStream).getTracks()[0]!);
  expect(await track.evaluate(({ readyState }) => readyState)).toBe('live');
  await form.getByRole('button', { name: 'Stop Scanning' }).click();
  await expect.poll(() => track.evaluate(({ readyState }) => readyState)).toBe('ended');
  load();
});
