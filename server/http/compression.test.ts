import { request as httpRequest } from 'node:http';
import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeApiKey, makeCustomer, makeLicense } from '../../tests/factories.ts';
import { startTestServer } from '../../tests/harness.ts';
import { program } from '../../tests/binaries.ts';
import { nextVersion, uploader } from '../../tests/uploading.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');
for (let made = 0; made < 8; made++) await makeCustomer(server.api(admin));

type Headers = Record<string, string>;

/** Uses node:http, because fetch would decompress the body. */
function raw(path: string, headers: Headers = {}, method = 'GET', body?: string) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
    (resolve, reject) => {
      const request = httpRequest(
        server.url + path,
        { method, headers: { ...admin.headers, ...headers } },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () =>
            resolve({
              status: response.statusCode!,
              headers: response.headers,
              bytes: Buffer.concat(pieces),
            }),
          );
        },
      );
      request.on('error', reject).end(body);
    },
  );
}

/** Node has zstd since 22.15. */
const zstd = (zlib as { zstdDecompressSync?: typeof gunzipSync }).zstdDecompressSync;

describe('a response to the console', () => {
  test.each([
    zstd
      ? ['gzip, deflate, br, zstd', 'zstd', zstd]
      : ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ])('above 1 KB is compressed for Accept-Encoding: %s', async (accepted, encoding, unpack) => {
    const plain = await raw('/api/customers');
    expect(plain.bytes.length).toBeGreaterThan(1024);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toBe('accept-encoding');
    const packed = await raw('/api/customers', { 'accept-encoding': accepted });
    expect(packed.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
    expect(packed.headers['content-length']).toBe(String(packed.bytes.length));
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(unpack(packed.bytes).equals(plain.bytes)).toBe(true);
  });

  test('is not compressed if it is small, or no encoding is accepted', async () => {
    const small = await raw('/api/customers?limit=1', { 'accept-encoding': 'br' });
    expect(small.bytes.toString()).toMatch(/^\{"success":true/);
    for (const accepted of ['', 'identity', 'br;q=0', 'zstd;q=0'])
      expect((await raw('/api/customers', { 'accept-encoding': accepted })).headers).not.toHaveProperty(
        'content-encoding',
      );
  });

  test.each(['/metrics', '/openapi.json', '/api/audit/export'])('%s is compressed', async (path) => {
    const packed = await raw(path, { 'accept-encoding': 'gzip' });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(gunzipSync(packed.bytes).length).toBeGreaterThan(2 * packed.bytes.length);
  });
});

describe('never compressed', () => {
  const all = { 'accept-encoding': 'br, gzip' };
  const expectPlain = (response: { headers: object }) =>
    expect(response.headers).not.toHaveProperty('content-encoding');

  test('is a response with a secret', async () => {
    const json = { ...all, 'content-type': 'application/json' };
    const login = JSON.stringify({ email: admin.email, password: 'correct horse battery staple' });
    const signedIn = await raw('/api/v1/auth/login', json, 'POST', login);
    expect(signedIn.status).toBe(200);
    expect(signedIn.bytes.length).toBeGreaterThan(1024);
    expectPlain(signedIn);
    const long = 'a description '.repeat(30);
    const body = JSON.stringify({ name: 'k', description: long, scopes: ['updates'] });
    expectPlain(await raw('/api/v1/api-keys', json, 'POST', body));
  });

  test('are responses to updaters and desktops: files, ranges, feeds, validations', async () => {
    const up = uploader(server.url, server.api(admin), admin);
    const release = (
      await up.direct({ version: nextVersion(), is_draft: 'false', file: program(5000, Buffer.alloc(5000)) })
    ).body.data;
    const key = await makeApiKey(server.api(admin), { scopes: ['updates', 'validate'] });
    const as = { ...all, ...key.headers, authorization: '' };
    const file = new URL(release.fileUrl).pathname;
    const whole = await raw(file, as);
    expectPlain(whole);
    expect(whole.bytes).toHaveLength(5000);
    const range = await raw(file, { ...as, range: 'bytes=0-1999' });
    expect(range.status).toBe(206);
    expectPlain(range);
    const feed = await raw('/api/v1/updates/electron/win/x64/latest.yml', as);
    expect(feed.bytes.toString()).toContain(release.version);
    expectPlain(feed);
    const license = await makeLicense(server.api(admin));
    const request = JSON.stringify({ licenseKey: license.licenseKey, machineId: 'm' });
    const valid = await raw(
      '/api/licenses/validate',
      { ...as, 'content-type': 'application/json' },
      'POST',
      request,
    );
    expect(valid.status).toBe(200);
    expectPlain(valid);
  });
});
