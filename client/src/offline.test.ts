import { createPublicKey, verify } from 'node:crypto';
import nodeFs from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import {
  day,
  decisionFile,
  licenseFile,
  licenseKey,
  newSigner,
  noNetwork,
  receiptFile,
  requestOf,
  secretFiles,
  startFakeServer,
  timesFile,
} from './fake-server.testing.ts';
import { machineHash } from './license-file.ts';
import type { Files } from './durable.ts';

/* A machine without a network: request, license file, receipt. */

type Fake = Awaited<ReturnType<typeof startFakeServer>>;

/** A machine that never reaches the server, with its request. */
async function isolated(fake?: Fake) {
  fake ??= await startFakeServer();
  fake.instead = noNetwork;
  const client = await fake.client();
  return { fake, client, request: await requestOf(client) };
}

function partsOf(jws: string) {
  const [header, claims, signature] = jws.split('.');
  const parse = (part: string) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, string>;
  return {
    header: parse(header!),
    claims: parse(claims!),
    signed: Buffer.from(`${header}.${claims}`),
    signature: Buffer.from(signature!, 'base64url'),
  };
}

test('a request is signed with the key that it names', async () => {
  const { fake, request } = await isolated();
  const { header, claims, signed, signature } = partsOf(request);
  expect(header).toEqual({ alg: 'EdDSA', typ: 'lanyard-request+jwt' });
  expect(claims).toMatchObject({ machineId: 'ws-07', iat: fake.clock.at / 1000 });
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: claims['key']! },
    format: 'jwk',
  });
  expect(verify(null, signed, key, signature)).toBe(true);
  expect(request.length).toBeLessThan(4000);
});

test('runs by the license file for its time, and not longer', async () => {
  const { fake, client, request } = await isolated();
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  const file = fake.fileFor(request).replaceAll(/.{50}/g, '$&\u200b\r\n');
  expect(await client.importLicense(`\n${file}\n`)).toMatchObject({ ok: true, modules: ['mod_diabetes'] });
  fake.clock.at += 89 * day;
  const result = await client.check();
  expect(result).toMatchObject({ valid: true, source: 'file', modules: ['mod_diabetes'] });
  expect(result.message).toBe('The license file is valid until 2027-02-20.');
  fake.clock.at += day + 1000;
  const ended = await client.check();
  expect(ended).toMatchObject({ valid: false, source: 'file', code: 'FILE_ENDED' });
  expect(ended.message).toContain('The clock of this machine says 2027-02-20 (UTC)');
});

test('a license file that ends before the clock of the machine names that clock, and counts once it is right', async () => {
  const fake = await startFakeServer();
  fake.instead = noNetwork;
  const clock = { ahead: 5 * 365 * day };
  const client = await fake.client({ now: () => new Date(fake.clock.at + clock.ahead) });
  const file = fake.fileFor(await requestOf(client));
  const refusal = await client.importLicense(file);
  expect(refusal).toMatchObject({ ok: false, code: 'FILE_ENDED' });
  expect(refusal).toHaveProperty('message', expect.stringContaining('2031-11-21'));
  clock.ahead = 0;
  expect(await client.importLicense(file)).toMatchObject({ ok: true });
});

test('in its grace, a license file is valid and says that it has expired', async () => {
  const { fake, client, request } = await isolated();
  const expiresAt = new Date(fake.clock.at + 90 * day).toISOString();
  const file = fake.fileFor(request, { grace: 7 });
  expect(await client.importLicense(file)).toMatchObject({ ok: true, expiresAt });
  fake.clock.at += 92 * day;
  const result = await client.check();
  expect(result).toMatchObject({ valid: true, source: 'file', expiresAt: '2027-02-27T12:00:00.000Z' });
  expect(result.message).toMatch(/has expired.*2027-02-27/);
});

test('no altered byte of a license file is accepted', async () => {
  const { fake, client, request } = await isolated();
  const file = fake.fileFor(request);
  for (let at = 0; at < file.length; at++) {
    const other = file[at] === 'A' ? 'B' : 'A';
    const result = await client.importLicense(file.slice(0, at) + other + file.slice(at + 1));
    expect(result.ok, `at ${at}`).toBe(false);
    expect((await client.importLicense(file.slice(0, at))).ok, `cut at ${at}`).toBe(false);
  }
  expect((await client.importLicense(file)).ok).toBe(true);
});

test('a license file is refused on another machine, for another key or license, and by a stranger', async () => {
  const { fake, client, request } = await isolated();
  const file = fake.fileFor(request);
  const elsewhere = await isolated(fake);
  expect(await elsewhere.client.importLicense(file)).toMatchObject({ code: 'OTHER_MACHINE_KEY' });
  const sameFolder = await fake.client({ folder: client.folder, machineId: 'ws-08' });
  expect(await sameFolder.importLicense(file)).toMatchObject({ code: 'OTHER_MACHINE' });
  const otherKey = { folder: client.folder, licenseKey: 'E1111-22222-33333-44444-55559' };
  expect(await (await fake.client(otherKey)).importLicense(file)).toMatchObject({ code: 'OTHER_LICENSE' });
  const stranger = newSigner();
  fake.keys = [stranger];
  const { claims } = partsOf(file);
  expect(await client.importLicense(stranger.licenseFile(claims))).toMatchObject({ code: 'UNKNOWN_KEY' });
  // also when it is put into the folder without asking
  await writeFile(`${client.folder}/${licenseFile}`, stranger.licenseFile(claims));
  expect(await client.check()).toMatchObject({ valid: false });
});

test('with the clock set back, a license file is not valid', async () => {
  const { fake, client, request } = await isolated();
  await client.importLicense(fake.fileFor(request));
  fake.clock.at += 60 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
  fake.clock.at -= 50 * day;
  expect(await client.check()).toMatchObject({ valid: false, source: 'none', code: 'CLOCK_SET_BACK' });
  // also before the file was made
  fake.clock.at -= 11 * day;
  expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
});

test('a second license file does not let the clock be set back', async () => {
  const { fake, client, request } = await isolated();
  const start = fake.clock.at;
  const first = fake.fileFor(request);
  fake.clock.at += 60_000;
  const second = fake.fileFor(request);
  expect((await client.importLicense(first)).ok).toBe(true);
  fake.clock.at = start + 89 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
  fake.clock.at = start + 120_000;
  expect(await client.importLicense(second)).toMatchObject({ ok: false, code: 'CLOCK_SET_BACK' });
  expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  // a file that was made after the newest time that the machine has seen
  fake.clock.at = start + 91 * day;
  expect((await client.importLicense(fake.fileFor(request))).ok).toBe(true);
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

describe('a clock that was ahead for a day, while a license file counted', () => {
  const ahead = 40 * day;

  /** A machine whose clock is right again, and the request that it had made last before it was ahead. */
  async function wasAhead() {
    const { fake, client, request } = await isolated();
    expect((await client.importLicense(fake.fileFor(request))).ok).toBe(true);
    fake.clock.at += ahead;
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    fake.clock.at -= ahead - day;
    expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
    return { fake, client, request };
  }

  test('does not lock the machine out: a license file for a new request shows the time', async () => {
    const { fake, client } = await wasAhead();
    const request = await requestOf(client);
    fake.clock.at += day;
    const restarted = await fake.client({ folder: client.folder });
    expect(await restarted.importLicense(fake.fileFor(request))).toMatchObject({ ok: true });
    expect(await restarted.check()).toMatchObject({ valid: true, source: 'file' });
    fake.clock.at += 80 * day;
    expect(await restarted.check()).toMatchObject({ valid: true, source: 'file' });
  });

  test('is forgotten also where the program made its request again, such as for the dialog of the import', async () => {
    const { fake, client } = await wasAhead();
    const request = await requestOf(client);
    expect(partsOf(await requestOf(client)).claims['jti']).toBe(partsOf(request).claims['jti']);
    expect(await client.importLicense(fake.fileFor(request))).toMatchObject({ ok: true });
    expect(partsOf(await requestOf(client)).claims['jti']).not.toBe(partsOf(request).claims['jti']);
  });

  test('is not forgotten by a file for a request of before, or one that does not name its request', async () => {
    const { fake, client, request } = await wasAhead();
    const newest = await requestOf(client);
    for (const file of [fake.fileFor(request), fake.fileFor(newest, { request: undefined })])
      expect(await client.importLicense(file)).toMatchObject({ ok: false, code: 'CLOCK_SET_BACK' });
    expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  });

  test('is forgotten once for each request', async () => {
    const { fake, client } = await wasAhead();
    const request = await requestOf(client);
    const file = fake.fileFor(request);
    fake.clock.at += 60_000;
    const again = fake.fileFor(request);
    expect(await client.importLicense(file)).toMatchObject({ ok: true });
    fake.clock.at += 30 * day;
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    fake.clock.at -= 29 * day;
    for (const text of [file, again])
      expect(await client.importLicense(text)).toMatchObject({ ok: false, code: 'CLOCK_SET_BACK' });
  });
});

test.each([
  ['VALID', 'kept'],
  ['EXPIRED', 'file'],
])(
  'after a license file that a process made whose clock is minutes behind that of the answer %s, the machine runs: %s',
  async (code, source) => {
    const fake = await startFakeServer();
    const right = fake.clock.at;
    const client = await fake.client();
    fake.clock.at = right + 3 * 60_000;
    fake.code = code;
    expect(await client.check()).toMatchObject({ source: 'online', code });
    fake.instead = noNetwork;
    fake.clock.at = right + 60_000;
    const days = code === 'VALID' ? 1 : 90;
    const file = fake.fileFor(await requestOf(client), { exp: (right + days * day) / 1000 });
    expect(await client.importLicense(file)).toMatchObject({ ok: true });
    fake.clock.at = right + 2 * day;
    expect(await client.check()).toMatchObject({ valid: true, source });
  },
);

describe('a server whose clock was ahead by years, when it answered last', () => {
  /** A machine with the right time that got an answer of 2028, and then lost its network. */
  async function answeredAhead(code = 'VALID') {
    const fake = await startFakeServer();
    const right = fake.clock.at;
    const client = await fake.client();
    await client.check();
    // the request for the file that it runs by
    const request = await requestOf(client);
    expect((await client.importLicense(fake.fileFor(request))).ok).toBe(true);
    const before = await requestOf(client);
    fake.clock.at = right + 400 * day;
    fake.code = code;
    expect(await client.check()).toMatchObject({ source: 'online', code });
    fake.instead = noNetwork;
    fake.code = 'VALID';
    fake.clock.at = right + day;
    expect(await client.check()).toMatchObject({ valid: false });
    return { fake, client, before };
  }

  test.each(['VALID', 'EXPIRED'])(
    'and said %s: the machine runs by a license file for a new request',
    async (code) => {
      const { fake, client, before } = await answeredAhead(code);
      const request = await requestOf(client);
      fake.clock.at += day;
      // it may have been made before that answer
      expect(await client.importLicense(fake.fileFor(before))).toMatchObject({ ok: false });
      fake.clock.at += day;
      const file = fake.fileFor(request);
      expect(await client.importLicense(file)).toMatchObject({ ok: true });
      expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
      // the clock is watched as before
      fake.clock.at += 60 * day;
      expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
      fake.clock.at -= 59 * day;
      expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
      expect(await client.importLicense(file)).toMatchObject({ ok: false, code: 'CLOCK_SET_BACK' });
    },
  );

  test('the same where a license file was made and taken by that clock', async () => {
    const fake = await startFakeServer();
    fake.instead = noNetwork;
    const client = await fake.client();
    fake.clock.at += 400 * day;
    expect((await client.importLicense(fake.fileFor(await requestOf(client)))).ok).toBe(true);
    fake.clock.at -= 400 * day;
    expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
    expect((await client.importLicense(fake.fileFor(await requestOf(client)))).ok).toBe(true);
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
  });

  test('and that file was given back: it stays so, which refuses new ones with its date, but in a new folder', async () => {
    const fake = await startFakeServer();
    fake.instead = noNetwork;
    const client = await fake.client();
    fake.clock.at += 400 * day;
    const made = new Date(fake.clock.at).toISOString().slice(0, 10);
    expect((await client.importLicense(fake.fileFor(await requestOf(client)))).ok).toBe(true);
    fake.clock.at -= 400 * day;
    expect(await client.giveBack()).toMatchObject({ ok: true, receipt: expect.any(String) as string });
    expect(await client.importLicense(fake.fileFor(await requestOf(client)))).toEqual({
      ok: false,
      code: 'GIVEN_BACK',
      message: `The license file of ${made} was given back, and this one is not newer.`,
    });
    const elsewhere = await fake.client();
    expect((await elsewhere.importLicense(fake.fileFor(await requestOf(elsewhere)))).ok).toBe(true);
  });
});

test.each(['an answer', 'another license file'])(
  'a license file that was kept for later does not let the clock be set back to before %s',
  async (since) => {
    const { fake, client, request } = await isolated();
    await client.importLicense(fake.fileFor(request));
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    const later = fake.fileFor(await requestOf(client));
    fake.clock.at += 2 * day;
    if (since === 'an answer') {
      fake.instead = undefined;
      expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
      fake.instead = noNetwork;
    } else expect(await client.importLicense(fake.fileFor(request))).toMatchObject({ ok: true });
    fake.clock.at -= day;
    expect(await client.importLicense(later)).toMatchObject({ ok: false });
    expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  },
);

test.each(['noted', 'not noted, by a crash'])(
  'a license file that was asked for before a refusal does not count after it: its time was %s',
  async (how) => {
    const { fake, client, request } = await isolated();
    await client.importLicense(fake.fileFor(request));
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    const later = fake.fileFor(await requestOf(client));
    const times = await readFile(`${client.folder}/${timesFile}`, 'utf8');
    fake.instead = undefined;
    fake.code = 'REVOKED';
    fake.clock.at += day;
    expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
    if (how !== 'noted') await writeFile(`${client.folder}/${timesFile}`, times);
    fake.instead = noNetwork;
    for (const back of [0, day]) {
      fake.clock.at -= back;
      await client.importLicense(later);
      expect(await client.check()).toMatchObject({ valid: false, source: 'kept', code: 'REVOKED' });
    }
  },
);

test.each(['runs on', 'was online since'])(
  'a license file that was kept for later does not let the clock be set back: the machine %s',
  async (how) => {
    const { fake, client, request } = await isolated();
    const start = fake.clock.at;
    expect((await client.importLicense(fake.fileFor(request))).ok).toBe(true);
    // as if the request was made late
    if (how === 'was online since') {
      fake.clock.at = start + 80 * day;
      expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    }
    const next = await requestOf(client);
    fake.clock.at = start + 60_000;
    const later = fake.fileFor(next);
    if (how === 'was online since') {
      fake.instead = undefined;
      expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
      fake.instead = noNetwork;
    }
    fake.clock.at = start + 8 * day;
    expect(await client.check()).toMatchObject({ valid: true });
    fake.clock.at = start + 85 * day;
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    fake.clock.at = start + 120_000;
    expect(await client.importLicense(later)).toMatchObject({ ok: false, code: 'CLOCK_SET_BACK' });
    expect(await client.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  },
);

test('a file that was given back never counts again, nor an older one', async () => {
  const { fake, client, request } = await isolated();
  const older = fake.fileFor(request);
  fake.clock.at += 5000;
  const file = fake.fileFor(request, { jti: '7f0c8a52-3f64-4d0e-8d7b-5f0c6a1b2c3d' });
  await client.importLicense(file);
  expect(await client.importLicense(older)).toMatchObject({ ok: false, code: 'SUPERSEDED' });
  const given = await client.giveBack();
  if (!given.ok) throw new Error(given.message);
  const { header, claims } = partsOf(given.receipt!);
  expect(header).toEqual({ alg: 'EdDSA', typ: 'lanyard-return+jwt' });
  expect(claims).toMatchObject({
    jti: '7f0c8a52-3f64-4d0e-8d7b-5f0c6a1b2c3d',
    machine: machineHash('ws-07'),
    iat: fake.clock.at / 1000,
  });
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  for (const text of [file, older])
    expect(await client.importLicense(text)).toMatchObject({ ok: false, code: 'GIVEN_BACK' });
  await writeFile(`${client.folder}/${licenseFile}`, older);
  expect(await client.check()).toMatchObject({ valid: false });
  expect(await client.giveBack()).toEqual(given);

  fake.clock.at += 5000;
  expect((await client.importLicense(fake.fileFor(request))).ok).toBe(true);
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a license file that was given back stays so when another license used the folder since', async () => {
  const fake = await startFakeServer();
  fake.instead = noNetwork;
  const folder = await newFolder();
  const one = await fake.client({ folder });
  const other = await fake.client({ folder, licenseKey: 'E1111-22222-33333-44444-55559' });
  const requests = await Promise.all([requestOf(one), requestOf(other)]);
  const otherFile = fake.fileFor(requests[1]);
  fake.clock.at += 60_000;
  const file = fake.fileFor(requests[0]);
  expect((await one.importLicense(file)).ok).toBe(true);
  const given = await one.giveBack();
  expect(given).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  // older than the file of the first license, which says nothing about this one
  expect((await other.importLicense(otherFile)).ok).toBe(true);
  expect((await other.giveBack()).ok).toBe(true);
  expect(await one.importLicense(file)).toMatchObject({ ok: false, code: 'GIVEN_BACK' });
  expect(await one.giveBack()).toEqual(given);
});

test('a crash between the receipt and the end of the file leaves a receipt and no license', async () => {
  const { fake, client, request } = await isolated();
  await client.importLicense(fake.fileFor(request));
  const file = await readFile(`${client.folder}/${licenseFile}`, 'utf8');
  const { receipt } = (await client.giveBack()) as { receipt: string };
  await writeFile(`${client.folder}/${licenseFile}`, file);
  const restarted = await fake.client({ folder: client.folder });
  expect(await restarted.check()).toMatchObject({ valid: false });
  expect(await restarted.giveBack()).toMatchObject({ ok: true, receipt });
});

/** A disk that takes nothing any more, as after a kill, from the n-th change after the receipt on. */
function killedAfterReceipt(changes: number): Files {
  let left = Infinity;
  const step =
    <Args extends unknown[]>(change: (...args: Args) => void, fileOf: (...args: Args) => unknown) =>
    (...args: Args) => {
      if (left <= 0) throw new Error('killed');
      change(...args);
      const file = String(fileOf(...args));
      if (!/\.new$|lock$/.test(file)) left -= 1;
      if (left === Infinity && file.endsWith(receiptFile)) left = changes;
    };
  const renameSync = step(nodeFs.renameSync, (_, to) => to);
  const rmSync = step(nodeFs.rmSync, (file) => file);
  return { ...nodeFs, renameSync, rmSync };
}

test('giving back a file is finished after a kill at any step, also on a machine that was online once', async () => {
  const fake = await startFakeServer();
  const [, tokenFile] = secretFiles();
  for (let changes = 0; changes < 6; changes++)
    for (const next of ['giveBack', 'check'] as const) {
      fake.instead = undefined;
      const client = await fake.client();
      const { folder } = client;
      await client.check();
      fake.instead = noNetwork;
      expect(await client.importLicense(fake.fileFor(await requestOf(client)))).toMatchObject({ ok: true });
      await (await fake.client({ folder }, { files: killedAfterReceipt(changes) })).giveBack();
      await rm(`${folder}/lock`, { force: true });
      const left = JSON.parse(await readFile(`${folder}/${receiptFile}`, 'utf8')) as Record<
        string,
        { receipt: string }
      >;
      const restarted = await fake.client({ folder });
      const at = `${next} after ${changes} changes`;
      if (next === 'check') expect(await restarted.check(), at).toMatchObject({ code: 'NO_ANSWER' });
      const { receipt } = left[licenseKey]!;
      expect(await restarted.giveBack(), at).toMatchObject({ ok: true, receipt });
      const names = await readdir(folder);
      for (const name of [licenseFile, decisionFile, tokenFile]) expect(names, at).not.toContain(name);
      // the machine may come back, and give that seat back
      fake.instead = undefined;
      fake.clock.at += 60_000;
      expect(await restarted.check()).toMatchObject({ valid: true, source: 'online' });
      expect(await restarted.giveBack()).toMatchObject({ ok: true, receipt: null });
    }
});

test('a license file imported after a return that was killed is not ended by it', async () => {
  const fake = await startFakeServer();
  const { client, request } = await isolated(fake);
  const { folder } = client;
  await client.importLicense(fake.fileFor(request));
  await (await fake.client({ folder }, { files: killedAfterReceipt(0) })).giveBack();
  await rm(`${folder}/lock`, { force: true });
  fake.clock.at += 1000;
  expect(await client.importLicense(fake.fileFor(request))).toMatchObject({ ok: true });
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a refusal of the server ends an older license file', async () => {
  const { fake, client, request } = await isolated();
  const file = fake.fileFor(request);
  await client.importLicense(file);
  fake.instead = undefined;
  fake.code = 'REVOKED';
  fake.clock.at += day;
  expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  fake.instead = () => 'hang';
  const restarted = await fake.client({ folder: client.folder, timeoutMs: 200 });
  expect(await restarted.check()).toMatchObject({ valid: false, code: 'REVOKED' });
  expect(await restarted.importLicense(file)).toMatchObject({ ok: false, code: 'SUPERSEDED' });
});

test('a refusal that was kept ends an older license file, also if the crash came before its time was noted', async () => {
  const { fake, client, request } = await isolated();
  await client.importLicense(fake.fileFor(request));
  const times = await readFile(`${client.folder}/${timesFile}`, 'utf8');
  fake.instead = undefined;
  fake.code = 'REVOKED';
  fake.clock.at += day;
  expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  await writeFile(`${client.folder}/${timesFile}`, times);
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: false, source: 'kept', code: 'REVOKED' });
});

test('a refusal of one license ends nothing of another', async () => {
  const fake = await startFakeServer();
  const other = { folder: await newFolder(), licenseKey: 'E1111-22222-33333-44444-55559' };
  const client = await fake.client(other);
  await client.importLicense(fake.fileFor(await requestOf(client)));
  fake.clock.at += day;
  fake.code = 'REVOKED';
  expect(await (await fake.client({ folder: other.folder })).check()).toMatchObject({ code: 'REVOKED' });
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('online, the server frees the seat, and what was kept has ended even if its answer is lost', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.instead = (call) => (call.path.endsWith('/deactivate') ? { status: 502, body: '' } : undefined);
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  fake.instead = () => ({ status: 429, body: { error: 'Too many' } });
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER', message: 'Too many' });
  // the sign-in page of a hotel frees no seat
  fake.instead = () => ({ status: 401, body: '<html>' });
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  fake.instead = undefined;
  expect(await client.giveBack()).toEqual({ ok: true, receipt: null, message: 'Free.' });
  expect(await client.giveBack()).toMatchObject({ ok: true, receipt: null });
});

test('a file that has ended only by the clock of the machine is given back by its receipt', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  await client.importLicense(fake.fileFor(await requestOf(client)));
  const data = { released: false, code: 'OFFLINE_SEAT', message: 'Only its receipt frees the seat.' };
  fake.instead = () => ({ status: 200, body: { data } });
  fake.clock.at += 91 * day;
  const given = await client.giveBack();
  expect(given).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  expect(await client.giveBack()).toEqual(given);
});

test('a machine whose token cannot be read is not told that it holds no seat', async () => {
  const fake = await startFakeServer();
  let isLocked = false;
  const decrypt = (bytes: Uint8Array) => {
    if (isLocked) throw new Error('the keychain is locked');
    return Buffer.from(bytes).toString();
  };
  const protect = { encrypt: (text: string) => Buffer.from(text), decrypt };
  const client = await fake.client({ protect });
  await client.check();
  isLocked = true;
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
  expect(fake.tokens.size).toBe(1);
  isLocked = false;
  expect(await client.giveBack()).toMatchObject({ ok: true, message: 'Free.' });

  await client.importLicense(fake.fileFor(await requestOf(client)));
  isLocked = true;
  const restarted = await fake.client({ folder: client.folder, protect });
  expect(await restarted.giveBack()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
});

test('a seat that the server does not free now is said, with its sentence', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const data = { released: false, code: 'TOO_MANY_RELEASES', message: 'Try again tomorrow.' };
  fake.instead = () => ({ status: 200, body: { data } });
  expect(await client.giveBack()).toMatchObject({
    ok: false,
    code: 'TOO_MANY_RELEASES',
    message: data.message,
  });
});

test('without a folder that can be written there is no request, and nothing is thrown', async () => {
  const fake = await startFakeServer();
  const file = `${await newFolder()}/file`;
  await writeFile(file, '');
  const client = await fake.client({ folder: `${file}/below` });
  expect(await client.offlineRequest()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
  expect(await client.importLicense('x')).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
  expect(await client.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_MACHINE_KEY' });
});
