import nodeFs from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import {
  day,
  decisionFile,
  licenseFile,
  requestOf,
  secretFiles,
  sequenceFile,
  startFakeServer,
  timesFile,
  unreadable,
} from './fake-server.testing.ts';
import type { Files } from './durable.ts';
import { createStore } from './store.ts';
import type { Client, Fetch } from './types.ts';

/* What a disk, a crash or another process can do to the folder. */

const [keyFile, tokenFile] = secretFiles();

const failing = (code: string): Files => {
  const fail = () => {
    throw Object.assign(new Error(code), { code });
  };
  const { openSync } = nodeFs;
  return {
    ...nodeFs,
    // reading goes on
    openSync: (file, flags, mode) => (flags === 'r' ? openSync(file, flags, mode) : fail()),
    mkdirSync: fail,
    linkSync: fail,
    copyFileSync: fail,
    renameSync: fail,
    rmSync: fail,
  };
};

test.each([
  ['EROFS', /read-only/],
  ['EACCES', /may not be written/],
  ['ENOSPC', /disk is full/],
])('%s: an online answer counts, a kept one too, and the problem is told', async (code, problem) => {
  const fake = await startFakeServer();
  const { folder, check } = await fake.client();
  await check();
  const client = await fake.client({ folder }, { files: failing(code) });
  const online = await client.check();
  expect(online).toMatchObject({ valid: true, source: 'online' });
  expect(online.problem).toMatch(problem);
  fake.instead = () => ({ status: 502, body: '' });
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('a number that could not be stored is not sent, since it would come twice', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await fake.client();
  await check();
  const { renameSync } = failing('ENOSPC');
  const client = await fake.client({ folder }, { files: { ...nodeFs, renameSync } });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  expect(fake.calls.at(-1)).toMatchObject({ path: '/api/licenses/validate' });
  expect(fake.calls.at(-1)!.headers['x-machine-sequence']).toBeUndefined();
});

test('on a disk that fills up between key and token, this start is valid and the next enrolls again', async () => {
  const fake = await startFakeServer();
  const { folder, offlineRequest } = await fake.client();
  await offlineRequest();
  const full = await fake.client({ folder }, { files: failing('ENOSPC') });
  expect(await full.check()).toMatchObject({ valid: true, source: 'online' });
  expect(await full.check()).toMatchObject({ valid: true, source: 'online' });
  const restarted = await fake.client({ folder });
  expect(await restarted.check()).toMatchObject({ valid: true, source: 'online' });
  expect(fake.calls.filter(({ path }) => path.endsWith('/enroll'))).toHaveLength(2);
});

test('a first start on a full disk is not valid, and throws nothing', async () => {
  const fake = await startFakeServer();
  const client = await fake.client({}, { files: failing('ENOSPC') });
  const result = await client.check();
  expect(result).toMatchObject({ valid: false, code: 'NO_MACHINE_KEY' });
  expect(result.problem).toMatch(/disk is full/);
  expect(fake.calls).toHaveLength(0);
});

test('key and token are for this user alone', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await fake.client({ folder: `${await newFolder()}/below/this` });
  await check();
  for (const name of await readdir(folder)) {
    const { mode } = await stat(`${folder}/${name}`);
    expect((mode & 0o777).toString(8), name).toBe('600');
  }
  expect(((await stat(folder)).mode & 0o777).toString(8)).toBe('700');
});

test('in a folder of a group, which an installer made, all is for that group', async () => {
  const fake = await startFakeServer();
  const folder = `${await newFolder()}/shared`;
  await mkdir(folder);
  await chmod(folder, 0o2770);
  await (await fake.client({ folder })).check();
  await createStore(`${folder}/below`).write('sequence', '1');
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  expect(entries.length).toBeGreaterThan(5);
  for (const entry of entries) {
    const { mode } = await stat(`${entry.parentPath}/${entry.name}`);
    expect((mode & 0o7777).toString(8), entry.name).toBe(entry.isDirectory() ? '2770' : '660');
  }
});

/** Every seventh place of a file, and each of the last twenty. */
const cutsOf = ({ length }: { length: number }) =>
  Array.from({ length }, (_, at) => at).filter((at) => at % 7 === 0 || at >= length - 20);

test('a file cut off anywhere is never valid by itself, and the next online check repairs it', async () => {
  const fake = await startFakeServer();
  const { folder, check, offlineRequest } = await fake.client();
  await check();
  await check();
  const names = (await readdir(folder)).toSorted();
  expect(names).toEqual([decisionFile, keyFile, tokenFile, sequenceFile, timesFile]);
  for (const name of names) {
    const whole = await readFile(`${folder}/${name}`);
    for (const length of cutsOf(whole)) {
      await writeFile(`${folder}/${name}`, whole.subarray(0, length));
      fake.instead = () => ({ status: 502, body: '' });
      const client = await fake.client({ folder });
      const offline = await client.check();
      if ([decisionFile, timesFile].includes(name)) expect(offline.valid, `${name} at ${length}`).toBe(false);
      else expect(offline.source, `${name} at ${length}`).toBe('kept');
      if (length % 70 > 0) continue;
      fake.instead = undefined;
      expect(await client.check(), `${name} at ${length}`).toMatchObject({ valid: true, source: 'online' });
    }
    await writeFile(`${folder}/${name}`, whole);
  }
  expect(await offlineRequest()).toMatchObject({ ok: true });
});

test('a license file cut off anywhere in the folder is not valid', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.importLicense(fake.fileFor(await requestOf(client)));
  fake.instead = () => ({ status: 502, body: '' });
  const whole = await readFile(`${client.folder}/${licenseFile}`, 'utf8');
  for (const length of cutsOf(whole)) {
    await writeFile(`${client.folder}/${licenseFile}`, whole.slice(0, length));
    expect(await client.check(), String(length)).toMatchObject({ valid: false });
  }
  await writeFile(`${client.folder}/${licenseFile}`, whole);
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a keychain encrypts key and token; one that is locked for a moment loses nothing', async () => {
  const fake = await startFakeServer();
  const turn = (bytes: Uint8Array) => Buffer.from(bytes).map((byte) => byte ^ 0x5a);
  let locked = false;
  const protect = {
    encrypt: (text: string) => turn(Buffer.from(text)),
    decrypt(bytes: Uint8Array) {
      if (locked) throw new Error('the keychain is locked');
      return Buffer.from(turn(bytes)).toString();
    },
  };
  const plain = await fake.client();
  await plain.offlineRequest();
  const { folder } = plain;
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toContain('PRIVATE KEY');
  await (await fake.client({ folder, protect })).check();
  const key = await readFile(`${folder}/${keyFile}`, 'utf8');
  expect(key).toMatch(/^protected [\w+/=]+$/);
  expect(await readFile(`${folder}/${tokenFile}`, 'utf8')).not.toContain('lym_');

  locked = true;
  const result = await (await fake.client({ folder, protect })).check();
  expect(result).toMatchObject({ valid: true, source: 'kept' });
  expect(result.problem).toContain('the keychain is locked');
  expect(await (await fake.client({ folder })).check()).toMatchObject({ valid: true, source: 'kept' });
  locked = false;
  await (await fake.client({ folder, protect })).check();
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toBe(key);
  const keys = new Set(fake.calls.flatMap(({ body }) => body['publicKey'] ?? []));
  expect(keys.size).toBe(1);
});

test('a keychain that refuses a key that was stored without one costs no license, and gets it later', async () => {
  const fake = await startFakeServer();
  const { folder, ...client } = await fake.client();
  await client.importLicense(fake.fileFor(await requestOf(client)));
  fake.instead = () => ({ status: 502, body: '' });
  let denied = true;
  const protect = {
    encrypt(text: string) {
      if (denied) throw new Error('the keychain is locked');
      return Buffer.from(text);
    },
    decrypt: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
  };
  expect(await (await fake.client({ folder, protect })).check()).toMatchObject({
    valid: true,
    source: 'file',
  });
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toContain('PRIVATE KEY');
  denied = false;
  expect(await (await fake.client({ folder, protect })).check()).toMatchObject({
    valid: true,
    source: 'file',
  });
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toMatch(/^protected /);
});

test('calls at once in one folder take their turns: one key, one enrollment, no number twice', async () => {
  const fake = await startFakeServer();
  const folder = await newFolder();
  const clients = await Promise.all(Array.from({ length: 8 }, () => fake.client({ folder })));
  const results = await Promise.all(clients.flatMap(({ check }) => [check(), check()]));
  expect(results.every(({ valid, source }) => valid && source === 'online')).toBe(true);
  expect(fake.calls.filter(({ path }) => path.endsWith('/enroll'))).toHaveLength(1);
  const numbers = fake.calls.flatMap(({ headers }) => headers['x-machine-sequence'] ?? []).map(Number);
  expect(numbers).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
  expect(await readdir(folder)).not.toContain('lock');
});

test('the lock of a process that was killed holds nobody up', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  const begun = performance.now();
  await writeFile(`${client.folder}/lock`, '999999999');
  expect(await client.check()).toMatchObject({ valid: true });
  await writeFile(`${client.folder}/lock`, '');
  await utimes(`${client.folder}/lock`, new Date(), new Date(Date.now() - 3 * 60_000));
  expect(await client.check()).toMatchObject({ valid: true });
  expect(performance.now() - begun).toBeLessThan(50_000);
});

test('of two processes that find an abandoned lock, one takes it', async () => {
  const folder = await newFolder();
  await writeFile(`${folder}/lock`, '999999999');
  const other = `${process.pid} other`;
  /** As if another process were faster, between the look at the lock and its removal. */
  const overtaken = ((file: string) => {
    const text = nodeFs.readFileSync(file, 'utf8');
    if (text === '999999999') nodeFs.writeFileSync(file, other);
    return text;
  }) as Files['readFileSync'];
  const store = createStore(folder, { ...nodeFs, readFileSync: overtaken });
  expect(await store.lock(300, async (lock) => lock)).toBe('taken');
  expect(await readFile(`${folder}/lock`, 'utf8')).toBe(other);
  expect(await readdir(folder)).toEqual(['lock']);
});

test.each(['closeSync', 'rmSync'] as const)(
  'a lock that its own process left, since %s failed once, holds nobody up',
  async (step) => {
    const fake = await startFakeServer();
    let left = 1;
    let last = '';
    const openSync: Files['openSync'] = (file, flags, mode) =>
      nodeFs.openSync((last = String(file)), flags, mode);
    const once = (...args: Parameters<typeof nodeFs.closeSync> | Parameters<typeof nodeFs.rmSync>) => {
      const file = step === 'closeSync' ? last : String(args[0]);
      if (file.endsWith('lock') && left-- > 0) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
      return (nodeFs[step] as (...all: typeof args) => void)(...args);
    };
    const client = await fake.client({}, { files: { ...nodeFs, openSync, [step]: once } });
    expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
    expect(await (await fake.client({ folder: client.folder })).giveBack()).toMatchObject({ ok: true });
    expect(left).toBeLessThan(1);
  },
);

test('a process removes its own lock only', async () => {
  const folder = await newFolder();
  const store = createStore(folder);
  // it slept for so long that another process took the lock
  await store.lock(300, () => writeFile(`${folder}/lock`, 'of another'));
  expect(await readFile(`${folder}/lock`, 'utf8')).toBe('of another');
});

test('an abandoned lock that cannot be removed is none', async () => {
  const folder = await newFolder();
  await writeFile(`${folder}/lock`, '999999999');
  const store = createStore(folder, {
    ...failing('EROFS'),
    openSync: nodeFs.openSync,
    mkdirSync: nodeFs.mkdirSync,
  });
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 5);
  expect(await store.lock(300, async (lock) => lock)).toBe('none');
  clearInterval(turning);
  expect(turns).toBeGreaterThan(0);
});

test('one that waits too long for another process asks without a number, and keeps no valid answer', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await fake.client();
  await check();
  const kept = await readFile(`${folder}/${decisionFile}`, 'utf8');
  await writeFile(`${folder}/lock`, String(process.pid));
  // also for the answers, which a busy machine takes its time for
  const client = await fake.client({ folder, timeoutMs: 3000 });
  fake.clock.at += 60_000;
  const problem = expect.stringContaining('not kept') as string;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online', problem });
  expect(await readFile(`${folder}/${decisionFile}`, 'utf8')).toBe(kept);
  expect(fake.calls.at(-1)!.headers['x-machine-sequence']).toBeUndefined();
  fake.code = 'REVOKED';
  expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  fake.instead = () => ({ status: 502, body: '' });
  expect(await client.check()).toMatchObject({ valid: false, source: 'kept', code: 'REVOKED' });
});

test('while another window asks the server, nothing is given back, requested or imported', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const request = await requestOf(client);
  const { folder } = client;
  await writeFile(`${folder}/lock`, String(process.pid));
  const callsOf = ({ giveBack, offlineRequest, importLicense }: Client) => [
    giveBack,
    offlineRequest,
    () => importLicense(fake.fileFor(request)),
  ];
  for (const call of callsOf(await fake.client({ folder, timeoutMs: 100 })))
    expect(await call()).toEqual({
      ok: false,
      code: 'BUSY',
      message: 'Another window of this program is asking the server. Try again.',
    });
  await rm(`${folder}/lock`);
  for (const call of callsOf(client)) expect(await call()).toMatchObject({ ok: true });
});

test.each([
  ['while another process asks', true],
  ['and whose process slept for so long that another took its lock', false],
])('an answer on its way %s does not bring back the seat that was given back', async (_, isTaken) => {
  const fake = await startFakeServer();
  const { folder, check, giveBack } = await fake.client();
  await check();
  if (isTaken) await writeFile(`${folder}/lock`, String(process.pid));
  let arrive = () => {};
  const slow: Fetch = async (url, request) => {
    const answer = await fetch(url, request);
    await new Promise<void>((resolve) => {
      arrive = resolve;
    });
    return answer;
  };
  const calls = fake.calls.length;
  // where the lock is taken, it waits for it that long
  const timeoutMs = isTaken ? 10_000 : 60_000;
  const asked = (await fake.client({ folder, timeoutMs, fetch: slow })).check();
  await expect.poll(() => fake.calls).toHaveLength(calls + 1);
  await rm(`${folder}/lock`);
  fake.clock.at += 1000;
  expect(await giveBack()).toMatchObject({ ok: true });
  arrive();
  expect(await asked).toMatchObject({
    source: 'online',
    problem: expect.stringContaining('not kept') as string,
  });
  fake.instead = () => ({ status: 502, body: '' });
  expect(await check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
});

test('a number that cannot be read at the moment is left out, and does not begin again', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await fake.client();
  for (let n = 0; n < 3; n++) await check();
  const busy = await fake.client({ folder }, { files: unreadable(sequenceFile) });
  expect(await busy.check()).toMatchObject({ valid: true, source: 'online' });
  await check();
  const numbers = fake.calls.map(({ headers }) => headers['x-machine-sequence']);
  expect(numbers).toEqual([undefined, '1', '2', undefined, '3']);
});

test('drafts that a crash left are removed after a while', async () => {
  const folder = await newFolder();
  await writeFile(`${folder}/decision.json.x.new`, '{');
  await utimes(`${folder}/decision.json.x.new`, new Date(), new Date(Date.now() - day));
  await writeFile(`${folder}/decision.json.y.new`, '{');
  await createStore(folder).write('sequence', '1');
  expect((await readdir(folder)).toSorted()).toEqual(['decision.json.y.new', 'sequence']);
});

test('of several processes that make a file, one makes it; also without links', async () => {
  const linkSync = () => {
    throw Object.assign(new Error('no links'), { code: 'EPERM' });
  };
  for (const files of [nodeFs, { ...nodeFs, linkSync }]) {
    const store = createStore(await newFolder(), files);
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((text) => store.create('key', text)));
    expect(made.filter((one) => one === 'created')).toHaveLength(1);
    expect(made.filter((one) => one === 'exists')).toHaveLength(3);
    const winner = 'abcd'[made.indexOf('created')];
    expect(await store.read('key')).toBe(winner);
    expect(await readdir(store.folder)).toEqual(['key']);
  }
});

test('a damaged key is replaced; one that cannot be read at the moment is not', async () => {
  const fake = await startFakeServer();
  const { folder, offlineRequest } = await fake.client();
  await offlineRequest();
  const key = await readFile(`${folder}/${keyFile}`, 'utf8');
  const busy = await fake.client({ folder }, { files: unreadable(keyFile) });
  expect(await busy.offlineRequest()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toBe(key);
  await writeFile(`${folder}/${keyFile}`, key.slice(0, 60));
  expect(await (await fake.client({ folder })).offlineRequest()).toMatchObject({ ok: true });
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toMatch(/PRIVATE KEY-----\n$/);
});

test('times that cannot be read at the moment do not cost the machine its key', async () => {
  const fake = await startFakeServer();
  const { folder, offlineRequest } = await fake.client();
  await offlineRequest();
  const key = await readFile(`${folder}/${keyFile}`, 'utf8');
  const busy = await fake.client({ folder }, { files: unreadable(timesFile) });
  expect(await busy.offlineRequest()).toMatchObject({ ok: true });
  expect(await readFile(`${folder}/${keyFile}`, 'utf8')).toBe(key);
});

test('no key is made while nobody can say whether there is a record of times', async () => {
  const fake = await startFakeServer();
  const fail = (file: string) => {
    if (file.endsWith(timesFile)) throw Object.assign(new Error('EIO'), { code: 'EIO' });
    return nodeFs.statSync(file);
  };
  const files = { ...nodeFs, statSync: fail as Files['statSync'] };
  const { folder, ...first } = await fake.client({}, { files });
  expect(await first.offlineRequest()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
  const next = await fake.client({ folder });
  expect(await next.importLicense(fake.fileFor(await requestOf(next)))).toMatchObject({ ok: true });
});

test('a file is on the disk before it takes its name, and its name after', async () => {
  const folder = await newFolder();
  const steps: string[] = [];
  const names = new Map<number, string>();
  const watched: Files = {
    ...nodeFs,
    openSync(file, flags, mode) {
      const handle = nodeFs.openSync(file, flags, mode);
      names.set(handle, file === folder ? 'folder on disk' : 'file on disk');
      return handle;
    },
    fsyncSync(handle) {
      steps.push(names.get(handle)!);
      nodeFs.fsyncSync(handle);
    },
    renameSync(from, to) {
      steps.push('named');
      nodeFs.renameSync(from, to);
    },
  };
  await createStore(folder, watched).write('sequence', '1');
  expect(steps).toEqual(['file on disk', 'named', 'folder on disk']);
});
