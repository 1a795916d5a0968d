import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { encodeQR } from 'qr';
import { decodeQR } from 'qr/decode.js';
import { beforeAll, expect, test } from 'vitest';
import { keys } from '../../contract/keys.ts';
import { licenses, type License } from '../../contract/licenses.ts';
import { offline } from '../../contract/offline.ts';
import { makeLicense, unique } from '../../tests/factories.ts';
import { systemChange } from '../../server/change.ts';
import { checkClock } from '../../server/checked-time.ts';
import { endOfflineSeats } from '../../server/features/offline/end-seats.ts';
import {
  checkedTime,
  days,
  hours,
  minutes,
  startTestServer,
  type Api,
  type TestServer,
} from '../../tests/harness.ts';
import { createClient, type Client, type ClientOptions } from './index.ts';
import { newFolder } from '../../tests/place.ts';

let server: TestServer;
let staff: Api;
let place: string;
let publicKeys: string[];
let license: License;
beforeAll(async () => {
  server = await startTestServer();
  staff = server.api((await server.signInAs('super_admin')).byCookie);
  place = await newFolder();
  publicKeys = (await server.api().ok(keys.published)).map((key) => key.publicKeyPem);
});

const noNetwork = () => Promise.reject(new Error('no network'));

/** A workstation of the hospital, in a folder of its own. */
const station = (machineId: string, options: Partial<ClientOptions> = {}): Client =>
  createClient({
    server: server.url,
    licenseKey: license.licenseKey,
    publicKeys,
    folder: join(place, machineId),
    machineId,
    now: () => server.clock.now(),
    fetch: noNetwork,
    ...options,
  });
const online: Partial<ClientOptions> = { fetch: (url, request) => fetch(url, request) };
const at = () => ({ params: { id: license.licenseId } });
const seats = async () => (await staff.ok(licenses.get, at())).currentActivations;

/** A text as a camera reads it from the QR code on a screen, four pixels a module. */
function scanned(text: string): string {
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: 4 });
  const side = rows.length * 4;
  const data = new Uint8Array(side * side * 4).map((_, byte) => {
    const pixel = Math.floor(byte / 4);
    const isDark = rows[Math.floor(pixel / side / 4)]![Math.floor((pixel % side) / 4)];
    return isDark && byte % 4 < 3 ? 0 : 255;
  });
  return decodeQR({ width: side, height: side, data });
}

/** Staff make a license file from the request that the workstation shows. */
async function issueTo(client: Client, daysValid: number): Promise<string> {
  const asked = await client.offlineRequest();
  if (!asked.ok) throw new Error(asked.message);
  const body = { request: scanned(asked.request), days: daysValid };
  return (await staff.ok(offline.issue, { ...at(), body })).licenseFile;
}

test('a workstation without a network runs by a license file, and gives its seat back by a receipt', async () => {
  license = await makeLicense(staff, { maxActivations: 1 });
  const name = unique('ct');
  const workstation = station(name);
  expect(await workstation.check()).toMatchObject({ valid: false, source: 'none', code: 'NO_ANSWER' });
  const file = await issueTo(workstation, 30);
  expect(await seats()).toBe(1);
  expect(await workstation.importLicense(file)).toMatchObject({ ok: true, modules: license.moduleIds });
  expect(await workstation.check()).toMatchObject({
    valid: true,
    source: 'file',
    modules: license.moduleIds,
  });

  // with the network for once, it asks the service, and needs no second seat
  expect(await station(name, online).check()).toMatchObject({ valid: true, source: 'online' });

  // another machine: with the file, with all that the program keeps, or with the network
  const other = station(unique('other'));
  expect(await other.importLicense(file)).toMatchObject({ ok: false, code: 'OTHER_MACHINE' });
  expect(await other.check()).toMatchObject({ valid: false });
  const copy = unique('copy');
  cpSync(join(place, name), join(place, copy), { recursive: true });
  expect(await station(copy).check()).toMatchObject({ valid: false });
  expect(await station(unique('online'), online).check()).toMatchObject({
    valid: false,
    code: 'TOO_MANY_ACTIVATIONS',
  });

  // a changed byte, wherever it is
  const second = station(name, { folder: join(place, unique('second')) });
  for (let n = 0; n < file.length; n += 5) {
    const changed = file.slice(0, n) + (file[n] === 'A' ? 'B' : 'A') + file.slice(n + 1);
    expect(await second.importLicense(changed), `byte ${n}`).toMatchObject({ ok: false });
  }
  expect(await second.check()).toMatchObject({ valid: false });

  // the clock: it runs for its time, and is not set back
  server.clock.advance(days(20));
  expect(await workstation.check()).toMatchObject({ valid: true, source: 'file' });
  const setBack = (ms: number) =>
    station(name, { now: () => new Date(server.clock.now().getTime() - ms) }).check();
  expect(await setBack(days(19))).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  expect(await setBack(days(21))).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  expect(await setBack(minutes(3))).toMatchObject({ valid: true });
  expect(await workstation.check()).toMatchObject({ valid: true });

  // it gives its seat back: the program stops at once, and the seat is free with the receipt
  const given = await workstation.giveBack();
  if (!given.ok || given.receipt === null) throw new Error(given.message);
  expect(await workstation.check()).toMatchObject({ valid: false });
  expect(await workstation.importLicense(file)).toMatchObject({ ok: false, code: 'GIVEN_BACK' });
  expect(await seats()).toBe(1);
  const receive = (receipt: string, to = license) =>
    staff.call(offline.giveBack, { params: { id: to.licenseId }, body: { receipt } });
  const { receipt } = given;
  const tampered = `${receipt.slice(0, -2)}${receipt.at(-2) === 'A' ? 'B' : 'A'}${receipt.at(-1)}`;
  expect((await receive(tampered)).status).toBe(422);
  expect((await receive(receipt, await makeLicense(staff))).status).toBe(422);
  expect(await seats()).toBe(1);
  const received = await Promise.all(Array.from({ length: 20 }, () => receive(receipt)));
  expect(received.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await seats()).toBe(0);
  // the program says the same receipt again, and it works no more
  expect(await workstation.giveBack()).toMatchObject({ ok: true, receipt });
  expect((await receive(receipt)).status).toBe(409);
  expect(await station(unique('next'), online).check()).toMatchObject({ valid: true, source: 'online' });
});

test('a license file ends by itself on the workstation, and its seat with it', async () => {
  license = await makeLicense(staff, { maxActivations: 1 });
  const workstation = station(unique('mr'));
  expect(await workstation.importLicense(await issueTo(workstation, 7))).toMatchObject({ ok: true });
  const next = station(unique('next'), online);
  for (let day = 0; day < 7 + 14; day++) {
    expect(await workstation.check(), `day ${day}`).toMatchObject({ valid: true, source: 'file' });
    expect(await next.check(), `day ${day}`).toMatchObject({ code: 'TOO_MANY_ACTIVATIONS' });
    server.clock.advance(days(1));
  }
  server.clock.advance(hours(1));
  expect(await workstation.check()).toMatchObject({ valid: false, code: 'FILE_ENDED' });
  expect(await next.check()).toMatchObject({ valid: true, source: 'online' });
  // and not before the time at which the other one stops
  expect(await seats()).toBe(1);
});

test('a machine that is online since its license file ended gives its seat back to the server', async () => {
  license = await makeLicense(staff, { maxActivations: 1 });
  const name = unique('ct');
  const isolated = station(name);
  const connected = station(name, online);
  expect(await isolated.importLicense(await issueTo(isolated, 1))).toMatchObject({ ok: true });
  // as the jobs of the service, which trust no clock that jumps
  for (let day = 0; day < 1 + 14; day++) {
    server.clock.advance(days(1));
    await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
  }
  server.clock.advance(hours(1));
  expect(await isolated.check()).toMatchObject({ valid: false, code: 'FILE_ENDED' });
  expect(await endOfflineSeats(server.context, checkedTime(server))).toBe(1);
  expect(await connected.check()).toMatchObject({ valid: true, source: 'online' });
  // a receipt for the file would free no seat
  expect(await isolated.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  expect(await connected.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect(await seats()).toBe(0);
  expect(await connected.giveBack()).toEqual({
    ok: true,
    receipt: null,
    message: 'This machine holds no seat.',
  });
});
