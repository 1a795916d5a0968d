import { createPublicKey, verify } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import {
  day,
  isolated,
  licenseFile,
  newSigner,
  noNetwork,
  partsOf,
  requestOf,
  startFakeServer,
  timesFile,
} from './fake-server.testing.ts';

/* A machine without a network: request, license file, receipt. */

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
  expect(result.message).toBe('The license file is valid until 2027-02-20 12:00 UTC.');
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
  expect(result.message).toMatch(/has expired.*2027-02-27 12:00 UTC:/);
});

test('a license file that ends with its license names the moment, not the day on which nothing runs', async () => {
  const { fake, client, request } = await isolated();
  const exp = Date.parse('2026-12-31T00:00:00Z') / 1000;
  expect(await client.importLicense(fake.fileFor(request, { exp }))).toMatchObject({ ok: true });
  fake.clock.at = exp * 1000;
  const last = await client.check();
  expect(last.valid).toBe(true);
  expect(last.message).toBe('The license file is valid until 2026-12-31 00:00 UTC.');
  fake.clock.at += 1;
  expect(await client.check()).toMatchObject({ valid: false, code: 'FILE_ENDED' });
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
