import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { releases } from '../../../contract/releases.ts';
import type { Release } from '../../../contract/releases.ts';
import { noise, program } from '../../../tests/binaries.ts';
import { breakOff } from '../../../tests/break-off.ts';
import { makeApiKey } from '../../../tests/factories.ts';
import { eventually, startTestServer, type Identity } from '../../../tests/harness.ts';
import { leftBy, MiB, nextVersion, someId, uploader, type Uploader } from '../../../tests/uploading.ts';

// random content may be cut into pieces twice as large
const bytes = program(3 * MiB + 17, noise(3 * MiB + 17, 'file'));
const server = await startTestServer();
const manager = await server.signInAs('binary_manager');
const api = server.api(manager);
const up = uploader(server.url, api, manager);
const admin = server.api(await server.signInAs('super_admin'));
const key = await makeApiKey(admin, { scopes: ['updates'] });
const release = await upload({});

async function upload(fields: Parameters<Uploader['direct']>[0]): Promise<Release> {
  const answer = await up.direct({ version: nextVersion(), is_draft: 'false', file: bytes, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

const addressOf = (of: Pick<Release, 'fileUrl'>) => server.url + new URL(of.fileUrl).pathname;

async function download(
  headers: Record<string, string> = {},
  {
    url = addressOf(release),
    method = 'GET',
    who = key,
  }: { url?: string; method?: string; who?: Identity } = {},
) {
  const response = await fetch(url, { method, headers: { ...who.headers, ...headers }, redirect: 'manual' });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

describe('a file', () => {
  test('comes whole, with all that a client needs to go on later', async () => {
    const answer = await download();
    expect(answer.status).toBe(200);
    expect(answer.bytes.equals(bytes)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-length': String(bytes.length),
      'content-type': 'application/octet-stream',
      'accept-ranges': 'bytes',
      etag: `"${release.sha512}"`,
      'last-modified': new Date(release.createdAt).toUTCString(),
      'cache-control': 'private, max-age=31536000, immutable',
      'content-disposition': `attachment; filename="App Setup.exe"`,
      'x-content-type-options': 'nosniff',
    });
  });

  test('says the same of itself to HEAD, without a body', async () => {
    const [whole, head] = [await download(), await download({}, { method: 'HEAD' })];
    expect(head.status).toBe(200);
    expect(head.bytes.length).toBe(0);
    const about = (headers: Headers) =>
      Object.fromEntries(
        [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit|connection|keep-alive)/.test(name)),
      );
    expect(about(head.headers)).toEqual(about(whole.headers));
    const ranged = await download({ range: 'bytes=5-9' }, { method: 'HEAD' });
    expect([ranged.status, ranged.headers.get('content-length')]).toEqual([206, '5']);
  });

  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=1000-2999999', 1000, 2_999_999],
    ['bytes=3145744-', 3 * MiB + 16, 3 * MiB + 16],
    ['bytes=-100', 3 * MiB - 83, 3 * MiB + 16],
    ['bytes=100-99999999', 100, 3 * MiB + 16],
  ])('in the range %s', async (range, start, end) => {
    const answer = await download({ range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${end}/${bytes.length}`);
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1));
    expect(answer.bytes.equals(bytes.subarray(start, end + 1))).toBe(true);
  });

  test('in several ranges at once', async () => {
    const answer = await download({ range: 'bytes=0-9, 100-199,-5' });
    expect(answer.status).toBe(206);
    const boundary = /^multipart\/byteranges; boundary=(\w+)$/.exec(answer.headers.get('content-type')!)![1]!;
    expect(answer.headers.get('content-length')).toBe(String(answer.bytes.length));
    const size = bytes.length;
    const part = (start: number, end: number) => [
      Buffer.from(
        `--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${start}-${end}/${size}\r\n\r\n`,
      ),
      bytes.subarray(start, end + 1),
      Buffer.from('\r\n'),
    ];
    const expected = Buffer.concat([
      ...part(0, 9),
      ...part(100, 199),
      ...part(size - 5, size - 1),
      Buffer.from(`--${boundary}--\r\n`),
    ]);
    expect(answer.bytes.equals(expected)).toBe(true);
    const head = await download({ range: 'bytes=0-9, 100-199,-5' }, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(expected.length));
  });

  test('tells whether it may still be installed by its first byte, which no cache keeps', async () => {
    const first = await download({ range: 'bytes=0-0' });
    expect([first.status, first.headers.get('cache-control'), first.bytes.length]).toEqual([
      206,
      'no-store',
      1,
    ]);
    const part = await download({ range: 'bytes=0-1' });
    expect([part.status, part.headers.get('cache-control')]).toEqual([
      206,
      expect.stringContaining('immutable'),
    ]);
  });

  test('beyond its end: 416, with its size', async () => {
    const answer = await download({ range: `bytes=${bytes.length}-` });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([416, 'no-store']);
    expect(answer.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
    expect(answer.bytes.length).toBe(0);
  });

  test('goes on under If-Range only while it is the same', async () => {
    const etag = `"${release.sha512}"`;
    const date = new Date(release.createdAt).toUTCString();
    const statusWith = async (condition: string) =>
      (await download({ range: 'bytes=0-9', 'if-range': condition })).status;
    expect(await statusWith(etag)).toBe(206);
    expect(await statusWith(date)).toBe(206);
    expect(await statusWith('"another"')).toBe(200);
    expect(await statusWith(`W/${etag}`)).toBe(200);
    expect(await statusWith('Thu, 01 Jan 1970 00:00:00 GMT')).toBe(200);
  });

  test('is not sent again to who has it', async () => {
    const etag = `"${release.sha512}"`;
    expect((await download({ 'if-none-match': `"x", ${etag}` })).status).toBe(304);
    expect((await download({ 'if-none-match': '"x"' })).status).toBe(200);
    const date = new Date(release.createdAt).toUTCString();
    expect((await download({ 'if-modified-since': date })).status).toBe(304);
    expect((await download({ 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status).toBe(200);
  });

  test('goes on under If-Match and If-Unmodified-Since only while it is the same', async () => {
    const etag = `"${release.sha512}"`;
    const date = new Date(release.createdAt).toUTCString();
    const before = 'Thu, 01 Jan 1970 00:00:00 GMT';
    const range = 'bytes=0-9';
    for (const same of [{ 'if-match': `"x", ${etag}` }, { 'if-match': '*' }, { 'if-unmodified-since': date }])
      expect((await download({ range, ...same })).status).toBe(206);
    const both = { 'if-match': etag, 'if-unmodified-since': before };
    expect((await download({ range, ...both })).status).toBe(206);
    for (const other of [
      { 'if-match': '"x"' },
      { 'if-match': `W/${etag}` },
      { 'if-unmodified-since': before },
    ]) {
      const { status, bytes: sent, headers } = await download({ range, ...other });
      expect([status, sent.length, headers.get('etag')]).toEqual([412, 0, etag]);
      // or a cache would give it for a year, also where nothing was asked of the file
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  test('is found by its release, whatever name an updater gives it', async () => {
    const other = addressOf(release).replace(/[^/]*$/, 'Whatever 9.exe');
    expect((await download({}, { url: other })).bytes.equals(bytes)).toBe(true);
    const another = await upload({});
    for (const url of [
      other.replace('.exe', '.zip'),
      other.replace('.exe', '.txt'),
      other.replace(release.version, '99.0.0'),
      other.replace(release.version, another.version),
      other.replace(release.id, someId()),
      other.replace(release.id, someId()).replace('.exe', '.txt'),
    ])
      expect((await download({}, { url })).status, url).toBe(404);
  });

  test('with a long name of many signs, and a version with build metadata', async () => {
    const name = `${'Größe 日本 '.repeat(15)}'"%.exe`;
    const named = await upload({ version: '7.0.0-beta.1+build.5', file: [bytes, name] });
    const answer = await download({}, { url: addressOf(named) });
    expect(answer.status).toBe(200);
    expect(answer.bytes.equals(bytes)).toBe(true);
    const encoded = /filename\*=UTF-8''(.*)$/.exec(answer.headers.get('content-disposition')!)![1]!;
    expect(decodeURIComponent(encoded)).toBe(named.fileName);
  });

  test('of one version and one name on two channels, platforms and architectures is each its own', async () => {
    const version = nextVersion();
    const builds: Record<string, string>[] = [
      {},
      { channel: 'beta' },
      { platform: 'linux' },
      { architecture: 'arm64' },
    ];
    const all = builds.map((fields) => ({ fields, bytes: program(5000) }));
    const made: Release[] = [];
    for (const { fields, bytes: file } of all)
      made.push(await upload({ version, ...fields, file: [file, 'App.exe'] }));
    for (const [index, { bytes: own }] of all.entries()) {
      const url = addressOf(made[index]!);
      expect((await download({}, { url })).bytes.equals(own)).toBe(true);
    }
    // nor does the address lead elsewhere when its release moves on, or is made again with other bytes
    const [{ id: releaseId }] = made as [Release];
    await api.ok(releases.softDelete, { params: { releaseId }, body: { reason: 'Again' } });
    await upload({ version, file: [program(5000), 'App.exe'] });
    expect((await download({}, { url: addressOf(made[0]!) })).status).toBe(404);
    expect((await download({}, { url: addressOf(made[0]!), who: manager })).bytes.equals(all[0]!.bytes)).toBe(
      true,
    );
  });

  test('that lies elsewhere: the client is sent there', async () => {
    const address = 'https://downloads.example/App.exe';
    const outside = await upload({ version: '8.0.0' });
    await server.db
      .updateTable('releases')
      .set({ external_url: address, storage_key: null, blockmap_key: null })
      .where('release_id', '=', outside.id)
      .execute();
    // what is written past the service is heard of with the next change
    await upload({});
    const answer = await download({}, { url: addressOf(outside) });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, address]);
  });
});

describe('who may have a file', () => {
  const statusFor = async (of: Release, who: Identity) =>
    (await download({}, { url: addressOf(of), who })).status;

  test('API keys: what is published; staff: what they can see', async () => {
    const draft = await upload({ is_draft: 'true' });
    expect(await statusFor(draft, key)).toBe(404);
    const answer = await download({}, { url: addressOf(draft), who: manager });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    await up.publish(draft.id);
    expect(await statusFor(draft, key)).toBe(200);

    const params = { releaseId: draft.id };
    await api.ok(releases.softDelete, { params, body: { reason: 'Wrong' } });
    expect(await statusFor(draft, key)).toBe(404);
    expect(await statusFor(draft, manager)).toBe(200);
  });

  test('machines no more once it is withdrawn or paused, though they were told of it; its block map they may', async () => {
    const bad = await upload({});
    const params = { releaseId: bad.id };
    const seen = async () => [
      await statusFor(bad, key),
      (await download({}, { url: `${addressOf(bad)}.blockmap` })).status,
      await statusFor(bad, manager),
    ];
    await api.ok(releases.pause, { params, body: { reason: 'It crashes' } });
    expect(await seen()).toEqual([404, 200, 200]);
    await api.ok(releases.resume, { params });
    expect(await seen()).toEqual([200, 200, 200]);
    await api.ok(releases.withdraw, { params, body: { reason: 'It crashes' } });
    expect(await seen()).toEqual([404, 200, 200]);
  });

  test('nobody else', async () => {
    expect(await statusFor(release, { headers: {} })).toBe(401);
    expect(await statusFor(release, await makeApiKey(admin, { scopes: ['validate'] }))).toBe(403);
    expect(await statusFor(release, await server.signInAs('viewer'))).toBe(200);
  });

  test('a client that cannot set a header, by the key in the address, with whatever else stands there', async () => {
    const url = `${addressOf(release)}?key=${encodeURIComponent(key.key)}&channel=beta&machineId=m&x=1`;
    expect((await download({}, { url, who: { headers: {} } })).bytes.equals(bytes)).toBe(true);
  });
});

describe('the block map', () => {
  type Map = {
    version: string;
    files: { name: string; offset: number; checksums: string[]; sizes: number[] }[];
  };
  const mapOf = async (of: Release) => {
    const answer = await download({}, { url: `${addressOf(of)}.blockmap` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-encoding')).toBeNull();
    return JSON.parse(gunzipSync(answer.bytes).toString()) as Map;
  };

  test('is what electron-updater reads', async () => {
    const map = await mapOf(release);
    expect(map.version).toBe('2');
    expect(map.files).toHaveLength(1);
    const [{ name, offset, checksums, sizes }] = map.files as [Map['files'][number]];
    expect([name, offset]).toEqual(['file', 0]);
    expect(checksums).toHaveLength(sizes.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(bytes.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(128 * 1024);
    expect(checksums.every((checksum) => Buffer.from(checksum, 'base64').length === 18)).toBe(true);
  });

  test('of a version with build metadata is found by a program that leaves that out', async () => {
    const { id: releaseId } = await upload({ version: '7.1.0', file: [program(5000), 'App.exe'] });
    const params = { releaseId };
    await api.ok(releases.softDelete, { params, body: { reason: 'Again' } });
    const old = await upload({ version: '7.1.0+2', file: [program(5000), 'App.exe'] });
    await upload({ version: '7.1.0', is_draft: 'true', file: [program(6000), 'App.exe'] });
    const url = `${addressOf(release).replace(release.version, '7.1.0')}.blockmap`;
    const answer = await download({}, { url });
    expect(JSON.parse(gunzipSync(answer.bytes).toString())).toEqual(await mapOf(old));
  });

  test('lets a client fetch only what changed, by several ranges in one request', async () => {
    const changed = Buffer.concat([
      bytes.subarray(0, MiB),
      noise(333, 'first'),
      bytes.subarray(MiB, 2 * MiB),
      noise(50_000, 'second'),
      bytes.subarray(2 * MiB + 10_000),
    ]);
    const next = await upload({ file: changed });
    const [before, after] = [await mapOf(release), await mapOf(next)];
    // electron-updater's own plan
    const planner = createRequire(import.meta.url)(
      'electron-updater/out/differentialDownloader/downloadPlanBuilder.js',
    ) as {
      computeOperations(a: Map, b: Map, log: object): { kind: 0 | 1; start: number; end: number }[];
    };
    const log = { info: () => undefined, warn: () => undefined };
    const plan = planner.computeOperations(before, after, log);
    const wanted = plan.filter((step) => step.kind === 1);
    expect(wanted.length).toBeGreaterThan(1);
    const asked = wanted.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(asked).toBeLessThan(500_000);

    const range = `bytes=${wanted.map(({ start, end }) => `${start}-${end - 1}`).join(', ')}`;
    const answer = await download({ range }, { url: addressOf(next) });
    expect(answer.status).toBe(206);
    let at = 0;
    const fetched = wanted.map(({ start, end }) => {
      at = answer.bytes.indexOf('\r\n\r\n', at) + 4;
      const piece = answer.bytes.subarray(at, at + end - start);
      at += piece.length;
      return piece;
    });
    const built = plan.map((step) =>
      step.kind === 1 ? fetched.shift()! : bytes.subarray(step.start, step.end),
    );
    expect(Buffer.concat(built).equals(changed)).toBe(true);
  });

  test('of a package of Squirrel is not there', async () => {
    const zip = await upload({ file: [bytes, 'App.exe'] });
    const url = addressOf(zip).replace('App.exe', 'App.nupkg.blockmap');
    expect((await download({}, { url })).status).toBe(404);
  });

  test('of a chunked upload is the same as that of the same bytes sent at once', async () => {
    const version = nextVersion();
    const prepared = await up.prepare(bytes, { version });
    await up.sendAll(bytes, prepared);
    const answer = await up.complete(bytes, prepared, { version, isDraft: false });
    expect(answer.status, answer.text).toBe(201);
    expect(await mapOf(answer.body.data)).toEqual(await mapOf(release));
  });
});

test('clients that go away in the middle leave nothing open', async () => {
  const large = await upload({ file: program(19 * MiB) });
  await Promise.all(Array.from({ length: 20 }, () => breakOff(addressOf(large), key.headers)));
  await eventually(async () => (await leftBy(server).openFiles()) === 0);
  expect((await download({}, { url: addressOf(large) })).bytes.length).toBe(19 * MiB);
});
