import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { keys } from '../../contract/keys.ts';
import { releases as releaseCalls } from '../../contract/releases.ts';
import { updateEvents as reportCalls } from '../../contract/update-events.ts';
import { installApp, nativeUpdater, type DesktopClient } from '../../tests/desktop-client.ts';
import {
  enrollOn,
  makeApiKey,
  makeLicense,
  makeRelease,
  unique,
  type MadeApiKey,
} from '../../tests/factories.ts';
import { eventually, seconds, startTestServer, type Api, type TestServer } from '../../tests/harness.ts';
import { machineRow } from '../../tests/rows.ts';
import { systemChange } from '../../server/change.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { createClient } from './create-client.ts';
import { idOf } from './follow-updates.ts';
import { createHttp, type Http } from './http.ts';
import type { ConnectedUpdater } from './types.ts';
import { connectUpdater, type UpdaterHost } from './updates.ts';
import { newFolder } from '../../tests/place.ts';

let server: TestServer;
let staff: Api;
let key: MadeApiKey;
/** Each test has a machine of its own, with the folder of its program. */
let machineId: string;
let folder: string;
let token: string | undefined;
const open: ConnectedUpdater[] = [];
beforeAll(async () => {
  server = await startTestServer();
  staff = server.api(await server.signInAs('super_admin'));
  key = await makeApiKey(staff, { scopes: ['updates'] });
});
beforeEach(async () => {
  machineId = unique('machine');
  folder = await newFolder();
  token = undefined;
  vi.stubEnv('APPIMAGE', join(folder, 'App-1.0.0.AppImage'));
  await systemChange(server.context, server.clock.now(), async ({ tx, announce }) => {
    await tx.deleteFrom('releases').execute();
    await announce('releases');
  });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

/** An installer that works: it runs, and ends well. */
const works = '#!/bin/sh\nexit 0\n';
const breaks = '#!/bin/sh\nexit 7\n';
const release = (version: string, fields: Parameters<typeof makeRelease>[1] = {}) =>
  makeRelease(server, {
    version,
    platform: 'linux',
    fileKind: 'appimage',
    fileName: `App-${version}.AppImage`,
    bytes: works,
    ...fields,
  });

const http = (): Http => {
  const call = createHttp(server.url, { fetch: undefined, timeoutMs: 20_000, env: {} });
  return (method, path, request = {}) =>
    call(method, path, { ...request, headers: { ...request.headers, 'x-api-key': key.key } });
};
/** Keeps answers as Chromium does, and with it `net.fetch` of Electron. */
const cached = (): Http => {
  const [call, kept] = [http(), new Map<string, Awaited<ReturnType<Http>>>()];
  return async (method, path, request = {}) => {
    if (method !== 'GET' || request.headers?.['cache-control'] === 'no-cache')
      return call(method, path, request);
    const reply = kept.get(path) ?? (await call(method, path, request));
    kept.set(path, reply);
    return reply;
  };
};
const hostOf = (fields: Partial<UpdaterHost> = {}): UpdaterHost => ({
  server: server.url,
  store: { folder },
  facts: { platform: 'linux', architecture: 'x64', osVersion: '6.1' },
  http: http(),
  now: () => server.clock.now(),
  machineId: () => Promise.resolve(machineId),
  secrets: { token: () => Promise.resolve(token) },
  ...fields,
});

/**
 * Starts the installed program: its updater, connected. The version is the one that runs. Later than the start before:
 * reports that wait are sent in the order of their times.
 */
async function start(
  version: string,
  { kind = 'appimage', ...fields }: Partial<UpdaterHost> & { kind?: 'appimage' | 'mac' } = {},
): Promise<DesktopClient & { connected: ConnectedUpdater }> {
  server.clock.advance(seconds(1));
  const app = await installApp({
    version,
    kind,
    feed: 'http://127.0.0.1:1/',
    headers: { 'x-api-key': key.key },
  });
  const connected = connectUpdater(hostOf(fields), app.updater);
  open.push(connected);
  return { ...app, connected };
}

/** A token of the machine, for a license of its own. */
const enrolled = async () => (await enrollOn(server, await makeLicense(staff), machineId)).token;

const eventsOf = (machine: string) =>
  server.db
    .selectFrom('update_events')
    .select(['event_type', 'from_version', 'to_version', 'error_code', 'error_message', 'release_id'])
    .where('machine_hash', '=', Buffer.from(machineHashOf(machine), 'hex'))
    .orderBy('written_order')
    .execute();

/** Sends what waits, and answers all that the service has recorded of the machine, in order. */
async function recorded(connected: ConnectedUpdater) {
  expect(await connected.deliver()).toEqual({ waiting: 0 });
  // rows are written in the order of the reports: what came before this one is there with it
  const marker = unique('marker');
  const event = { eventId: randomUUID(), machineId: marker, eventType: 'check' } as const;
  await server.api(key).ok(reportCalls.report, { body: { events: [event] } });
  await eventually(async () => (await eventsOf(marker)).length === 1);
  return eventsOf(machineId);
}
const types = async (connected: ConnectedUpdater) => (await recorded(connected)).map((row) => row.event_type);
const found = ['check', 'download_start', 'download_complete'];

/** The program of 1.0.0 has 1.1.0 downloaded, whose installer does this. */
async function downloaded(bytes = works, fields: Partial<UpdaterHost> = {}) {
  const { id: releaseId } = await release('1.1.0', { bytes });
  const app = await start('1.0.0', fields);
  writeFileSync(process.env.APPIMAGE!, works);
  expect((await app.check())?.version).toBe('1.1.0');
  await app.download();
  return { ...app, releaseId };
}

test('an update is told step by step, from the check to the version that then runs, each step once', async () => {
  const { releaseId, ...old } = await downloaded();
  // asked again every hour, the file from the cache is no news
  await old.check();
  await old.download();
  old.updater.quitAndInstall(true, false);
  const told = ['download_start', 'download_complete', 'install_start'];
  // the feed records the checks itself
  const reports = (rows: Awaited<ReturnType<typeof recorded>>) =>
    rows.map((row) => row.event_type).filter((type) => type !== 'check');
  expect(reports(await recorded(old.connected))).toEqual(told);
  for (let n = 0; n < 2; n++) {
    const rows = await recorded((await start('1.1.0')).connected);
    expect(reports(rows)).toEqual([...told, 'install_complete']);
    expect(rows).toHaveLength(told.length + 3);
    expect(rows.at(-1)).toMatchObject({ from_version: '1.0.0', to_version: '1.1.0', release_id: releaseId });
  }
  // staff see it: the release has one complete download and one install
  expect(await machineRow(server, machineId)).toMatchObject({
    last_version: '1.1.0',
    os_version: '6.1',
    platform: 'linux',
  });
});

test.each([
  ['with it', '1.1.0+2'],
  ['without it', '1.1.0'],
])('a version with build metadata is told as any other, by a program that runs %s', async (_, runs) => {
  const { id } = await release('1.1.0+2');
  const old = await start('1.0.0+1');
  writeFileSync(process.env.APPIMAGE!, works);
  await old.check();
  await old.download();
  old.updater.quitAndInstall(true, false);
  const updated = await start(runs);
  const completed = await recorded(updated.connected);
  expect(completed.at(-1)).toMatchObject({
    event_type: 'install_complete',
    from_version: '1.0.0+1',
    release_id: id,
  });
  await updated.check();
  await eventually(async () => (await machineRow(server, machineId))?.last_version === runs);
  expect((await recorded((await start('1.0.0+1')).connected)).at(-1)).toMatchObject({
    event_type: 'rollback',
    from_version: runs,
    to_version: '1.0.0+1',
    release_id: id,
  });
});

test('an update that is installed when the program quits is told as well', async () => {
  const old = await downloaded();
  (old.updater as unknown as { install(isSilent: boolean, isForceRunAfter: boolean): void }).install(
    true,
    false,
  );
  expect(await types(old.connected)).toEqual([...found, 'install_start']);
  expect(await types((await start('1.1.0')).connected)).toEqual([
    ...found,
    'install_start',
    'install_complete',
  ]);
});

test('an update that was downloaded and then taken back is not installed, until it is offered again', async () => {
  const call = cached();
  let signInPage: number | undefined;
  const behindProxy: Http = (method, path, request) =>
    signInPage && method === 'GET'
      ? Promise.resolve({ status: signInPage, text: '<title>Sign in</title>', retryAfter: undefined })
      : call(method, path, request);
  const { releaseId, updater, ...app } = await downloaded(works, { http: behindProxy });
  const params = { releaseId };
  // as electron-updater does when the program quits
  const quit = () => (updater as unknown as { install(isSilent: boolean): boolean }).install(true);
  await app.check();
  await staff.ok(releaseCalls.pause, { params, body: { reason: 'It crashes' } });
  await app.check();
  const told = vi.fn();
  updater.on('error', (error) => told(error.message));
  expect(quit()).toBe(false);
  // what a proxy answers in place of the service allows nothing
  for (signInPage of [200, 302]) {
    await app.check();
    expect(quit()).toBe(false);
  }
  signInPage = undefined;
  expect(told).not.toHaveBeenCalled();
  updater.quitAndInstall(true, false);
  expect(told).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('taken back'));
  expect((await types(app.connected)).filter((type) => /install|error/.test(type))).toEqual([]);

  await staff.ok(releaseCalls.resume, { params });
  await app.check();
  expect(quit()).toBe(true);
  expect(await types(app.connected)).toContain('install_start');
});

test('while a newer version is downloaded, the one before it is gone, and is not installed', async () => {
  const old = await downloaded();
  await release('1.2.0', { bytes: `${works}# newer\n` });
  await old.check();
  const quit = () => (old.updater as unknown as { install(isSilent: boolean): boolean }).install(true);
  let during: boolean | undefined;
  old.updater.once('download-progress', () => (during = quit()));
  await old.download();
  expect(during).toBe(false);
  expect(existsSync(process.env.APPIMAGE!)).toBe(true);
  expect(await types(old.connected)).not.toContain('install_error');
  expect(quit()).toBe(true);
});

test('an update that was removed when its download was repeated and failed is not installed', async () => {
  const { releaseId, updater, ...app } = await downloaded();
  const update = (body: { releaseNotes?: string; isActive?: boolean }) =>
    staff.ok(releaseCalls.update, { params: { releaseId }, body });
  // electron-updater fetches the same file again when anything of the feed has changed
  await update({ releaseNotes: 'Faster' });
  await app.check();
  await update({ isActive: false });
  await expect(app.download()).rejects.toThrow('404');
  await update({ isActive: true });
  await app.check();
  updater.quitAndInstall(true, false);
  const told = await types(app.connected);
  expect(told.filter((type) => type.startsWith('install'))).toEqual([]);
});

test('a check hands on the download that it has begun before that can fail', async () => {
  let failed: Promise<unknown> | undefined;
  const call = http();
  const slow: Http = async (method, path, request) => {
    if (method === 'GET') await failed?.then(() => setImmediate());
    return call(method, path, request);
  };
  const { updater } = await downloaded(works, { http: slow });
  await release('1.2.0', { bytes: breaks, externalUrl: 'http://127.0.0.1:9/App-1.2.0.AppImage' });
  updater.autoDownload = true;
  updater.once('update-available', () => void (failed = once(updater, 'error')));
  const unhandled = vi.fn();
  process.once('unhandledRejection', unhandled);
  const { downloadPromise } = (await updater.checkForUpdates())!;
  await expect(downloadPromise).rejects.toThrow('ECONNREFUSED');
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test('an installer that fails is told with its error', async () => {
  const old = await downloaded(breaks);
  old.updater.quitAndInstall(true, false);
  const rows = await recorded(old.connected);
  expect(rows.map((row) => row.event_type)).toEqual([...found, 'install_start', 'install_error']);
  expect(rows.at(-1)!.error_message).toContain('Command failed');
  // a start that finds the old version has nothing to add
  expect(await types((await start('1.0.0')).connected)).toHaveLength(rows.length);
});

test('an installation without effect is an error at the next start, and complete once the version runs', async () => {
  const old = await downloaded();
  old.updater.quitAndInstall(true, false);
  const rows = await recorded((await start('1.0.0')).connected);
  expect(rows.at(-1)).toMatchObject({ event_type: 'install_error', error_code: 'NOT_INSTALLED' });
  expect(await types((await start('1.0.0')).connected)).toHaveLength(rows.length);
  expect((await types((await start('1.1.0')).connected)).slice(rows.length)).toEqual(['install_complete']);
});

test('a version that went back is a rollback, told once', async () => {
  (await downloaded()).updater.quitAndInstall(true, false);
  const before = await types((await start('1.1.0')).connected);
  for (let n = 0; n < 2; n++) {
    const rows = await recorded((await start('1.0.0')).connected);
    expect(rows.slice(before.length)).toMatchObject([
      { event_type: 'rollback', from_version: '1.1.0', to_version: '1.0.0' },
    ]);
  }
  // another version by hand is none
  expect(await types((await start('1.2.0')).connected)).toHaveLength(before.length + 1);
});

test('a download that fails is told, and so is the one that works later', async () => {
  const { id } = await release('1.1.0');
  const app = await start('1.0.0');
  await app.check();
  await staff.ok(releaseCalls.update, { params: { releaseId: id }, body: { isActive: false } });
  await expect(app.download()).rejects.toThrow('404');
  // the feed records the next check by itself, and would be quicker than the report of the error
  await app.connected.deliver();
  await staff.ok(releaseCalls.update, { params: { releaseId: id }, body: { isActive: true } });
  await app.check();
  await app.download();
  const rows = await recorded(app.connected);
  expect(rows.map((row) => row.event_type)).toEqual([
    'check',
    'download_start',
    'download_error',
    'check',
    'download_start',
    'download_complete',
  ]);
  expect(rows[2]).toMatchObject({ to_version: '1.1.0', release_id: id });
  expect(rows[2]!.error_message).toContain('404');
});

test('a program that describes its machine in other words gets the feed of its process', async () => {
  const app = await start('1.0.0', { facts: { platform: 'Linux Mint', architecture: 'x86_64' } });
  await app.check();
  expect(app.executor.asked[0]?.path).toContain(`/electron/${process.platform}/${process.arch}/`);
  expect(await types(app.connected)).toEqual(['check']);
});

test('a check that fails tells nothing of an update', async () => {
  await release('1.1.0');
  const app = await start('1.0.0');
  await app.check();
  app.updater.setFeedURL({ provider: 'generic', url: 'http://127.0.0.1:1/' });
  await expect(app.check()).rejects.toThrow();
  expect(await types(app.connected)).toEqual(['check']);
});

test('an error says neither the token nor the name of the person', async () => {
  token = await enrolled();
  await release('1.1.0');
  const app = await start('1.0.0');
  await app.check();
  app.updater.emit('error', new Error(`EACCES: '${homedir()}/app' with ${token}\n    at somewhere`));
  const rows = await recorded(app.connected);
  expect(rows.at(-1)).toMatchObject({
    event_type: 'download_error',
    error_message: "EACCES: '~/app' with …",
  });
});

test('on macOS, an update whose signature Squirrel.Mac refuses is told as an error, once', async () => {
  await release('1.1.0', { platform: 'darwin', fileKind: 'zip', fileName: 'App-1.1.0.zip' });
  const facts = { platform: 'darwin', architecture: 'x64' };
  const app = await start('1.0.0', { kind: 'mac', facts });
  vi.spyOn(nativeUpdater, 'checkForUpdates').mockImplementationOnce(() => {
    nativeUpdater.emit('error', new Error('Could not get code signature for running application'));
  });
  await app.check();
  await expect(app.download()).rejects.toThrow('code signature');
  expect(await types(app.connected)).toEqual([...found, 'install_error']);
});

test('an error whose message is no text, such as one that our own cut goes through, is reported', async () => {
  await release('1.1.0', { platform: 'darwin', fileKind: 'zip', fileName: 'App-1.1.0.zip' });
  const app = await start('1.0.0', { kind: 'mac', facts: { platform: 'darwin', architecture: 'x64' } });
  vi.spyOn(nativeUpdater, 'checkForUpdates').mockImplementationOnce(() => {
    nativeUpdater.emit('error', new Error(`\u0000${'x'.repeat(998)}😀`));
  });
  await app.check();
  await expect(app.download()).rejects.toThrow('xxx');
  expect(await types(app.connected)).toEqual([...found, 'install_error']);
});

describe('the machine token', () => {
  test('goes with each request to the service, as it is at that time, beside the headers of the program', async () => {
    await release('1.1.0');
    const app = await start('1.0.0');
    app.updater.requestHeaders = { ...app.updater.requestHeaders, 'X-Own': 'of the program' };
    const [first, second] = [await enrolled(), await enrolled()];
    token = first;
    await app.check();
    token = second;
    await app.download();
    const [checked, fetched] = app.executor.asked.map(({ headers }) => headers);
    const always = { 'X-App-Version': '1.0.0', 'X-Own': 'of the program' };
    expect(checked).toMatchObject({ ...always, 'X-Machine-Token': first });
    expect(fetched).toMatchObject({ ...always, 'X-Machine-Token': second });
  });

  test('stays with the service where a release is on another server', async () => {
    const bytes = 'from elsewhere';
    const seen: IncomingHttpHeaders[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers);
      response.end(bytes);
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const { port } = elsewhere.address() as AddressInfo;
    try {
      await release('1.1.0', { bytes, externalUrl: `http://127.0.0.1:${port}/App-1.1.0.AppImage` });
      token = await enrolled();
      const app = await start('1.0.0');
      await app.check();
      await app.download();
      expect(seen).toHaveLength(1);
      expect(JSON.stringify(seen)).not.toContain('lym_');
    } finally {
      elsewhere.close();
    }
  });
});

test('the client needs no API key: the machine proves itself, from the check of the license to the update', async () => {
  // no header of Node can name it
  machineId = unique('ПК-日本');
  const { id } = await release('1.1.0');
  const license = await makeLicense(staff);
  const publicKeys = (await server.api().ok(keys.published)).map((one) => one.publicKeyPem);
  const { licenseKey } = license;
  const now = () => server.clock.now();
  const facts = { platform: 'linux', architecture: 'x64', appVersion: '1.0.0' };
  const client = createClient({ server: server.url, licenseKey, publicKeys, folder, machineId, now, facts });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  const app = await installApp({
    version: '1.0.0',
    kind: 'appimage',
    feed: 'http://127.0.0.1:1/',
  });
  const connected = client.connectUpdater(app.updater);
  open.push(connected);
  expect((await app.check())?.version).toBe('1.1.0');
  await app.download();
  const rows = await recorded(connected);
  expect(rows.map((row) => row.event_type)).toEqual(found);
  expect(rows.at(-1)!.release_id).toBe(id);
});

test('a start that is killed before it has kept what it told says it again, and it counts once', async () => {
  (await downloaded()).updater.quitAndInstall(true, false);
  await open.splice(0)[0]!.stop();
  const before = await newFolder();
  const count: number[] = [];
  for (let n = 0; n < 3; n++) {
    // the state of before the start, as after a kill; the outbox delivered
    if (n === 0) cpSync(folder, before, { recursive: true });
    else cpSync(join(before, 'update.json'), join(folder, 'update.json'));
    count.push((await recorded((await start('1.1.0')).connected)).length);
  }
  expect(new Set(count)).toEqual(new Set([found.length + 2]));
});

test('machines from one disk image each count with their own installation', async () => {
  (await downloaded()).updater.quitAndInstall(true, false);
  await open.splice(0)[0]!.stop();
  const image = await newFolder();
  cpSync(folder, image, { recursive: true });
  for (let n = 0; n < 2; n++) {
    machineId = unique('machine');
    folder = await newFolder();
    cpSync(image, folder, { recursive: true });
    expect(await types((await start('1.1.0')).connected)).toContain('install_complete');
  }
});

/** A program that reports as fast as it can, and says which events it has handed over. */
const loop = `
import { randomUUID } from 'node:crypto';
const [, , code, folder, server, key, machineId] = process.argv;
const { createOutbox } = await import(code);
const { idOf } = await import(code.replace('outbox.js', 'follow-updates.js'));
const outbox = createOutbox(folder, async (waiting) => {
  // as connectUpdater sends them
  const events = waiting.map((event) => ({ ...event, eventId: idOf(machineId, event.eventId) }));
  const response = await fetch(server + '/api/v1/updates/events', {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ events }),
  });
  return { status: response.status, text: await response.text(), retryAfter: undefined };
});
for (;;) {
  const eventId = randomUUID();
  const event = { eventId, machineId, eventType: 'download_start', timestamp: new Date().toISOString() };
  if (outbox.add(event)) process.stdout.write(eventId + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 2));
}
`;

test('killed at any moment, it loses no event that it has accepted, and none counts twice', async () => {
  const outbox = join(folder, 'outbox');
  const place = await newFolder();
  const script = join(place, 'loop.mjs');
  writeFileSync(script, loop);
  const dist = join(place, 'dist');
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const settings = ['-p', join(import.meta.dirname, '../tsconfig.json'), '--outDir', dist];
  execFileSync(process.execPath, [tsc, ...settings]);
  const args = [script, join(dist, 'outbox.js'), outbox, server.url, key.key, machineId];
  const accepted = new Set<string>();
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.setEncoding('utf8');
    let text = '';
    child.stdout.on('data', (chunk: string) => {
      text += chunk;
      // somewhere in the work after a few events
      if (text.split('\n').length > 3 + round * 4) child.kill('SIGKILL');
    });
    await once(child, 'close');
    for (const id of text.split('\n').slice(0, -1)) accepted.add(id);
  }
  expect(accepted.size).toBeGreaterThan(20);
  const app = await start('1.0.0');
  await recorded(app.connected);
  const rows = await server.db
    .selectFrom('update_events')
    .select('event_id')
    .where('machine_hash', '=', Buffer.from(machineHashOf(machineId), 'hex'))
    .execute();
  const ids = rows.map((row) => row.event_id);
  expect(ids.length).toBe(new Set(ids).size);
  expect([...accepted].filter((id) => !ids.includes(idOf(machineId, id)))).toEqual([]);
  expect(readdirSync(outbox).filter((name) => name.endsWith('.json'))).toEqual([]);
});
