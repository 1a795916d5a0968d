import { createServer, type RequestListener } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { releases as calls } from '../../../contract/releases.ts';
import { auditOf, patience, startTestServer } from '../../../tests/harness.ts';
import { releaseRow } from '../../../tests/rows.ts';
import { isPublicAddress, realOutbound, type Destination, type Outbound } from '../../outbound-http.ts';
import { probeFile } from './probe.ts';

const sha512 = `${'A'.repeat(86)}==`;
const publicAddress = '93.184.215.14';

/** What the fake network does: names, and one server behind every public address. */
let names: Record<string, string[] | (() => string[])>;
let serve: RequestListener;
let asked: string[];
let connections: number;

const files = createServer((request, response) => {
  asked.push(`${request.method} ${request.headers.host}${request.url} ${request.headers.range ?? ''}`.trim());
  serve(request, response);
});

const fakeOutbound: Outbound = {
  async resolve(host) {
    const known = names[host];
    if (!known) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    return (typeof known === 'function' ? known() : known).map((address) => ({
      address,
      family: net.isIP(address),
    }));
  },
  /** As net.connect: a name is looked up first; but every address leads to our own server. */
  connect({ lookup, ...to }) {
    const { port } = files.address() as AddressInfo;
    const here = '127.0.0.1';
    const literal = net.isIP(to.host) > 0;
    if (literal) connections++;
    const fake: Destination = {
      ...to,
      host: literal ? here : to.host,
      port,
      lookup: (name, options, done) =>
        lookup(name, { ...options, all: true }, (error) => {
          if (error) return done(error, []);
          connections++;
          done(null, [{ address: here, family: 4 }]);
        }),
    };
    return realOutbound.connect(fake);
  },
};

await new Promise<void>((resolve) => {
  files.listen(0, '127.0.0.1', resolve);
});
const server = await startTestServer({ outbound: fakeOutbound });
const api = server.api(await server.signInAs('binary_manager'));
afterAll(async () => {
  files.closeAllConnections();
  files.close();
});
beforeEach(() => {
  names = { 'files.example': [publicAddress, '2606:2800:21f:cb07:6820:80da:af6b:8b2c'] };
  serve = (_, response) => response.writeHead(200, { 'content-length': 500 }).end();
  asked = [];
  connections = 0;
});

let made = 0;
const body = (fields: object = {}) => ({
  version: `1.0.${++made}`,
  fileUrl: 'http://files.example/app/Setup.exe',
  fileSize: 500,
  sha512,
  ...fields,
});
const create = (fields: object = {}) => api.call(calls.createFromUrl, { body: body(fields) });
async function refusal(fileUrl: string): Promise<string> {
  const answer = await create({ fileUrl });
  expect([answer.status, answer.body.code], answer.text).toEqual([422, 'RULE_VIOLATED']);
  expect(answer.body.error.startsWith(`${answer.body.details[0]!.path}: `)).toBe(true);
  return answer.body.error;
}

describe('a release whose file lies elsewhere', () => {
  test('is made with the defaults of the spec, once the server of the file confirms it', async () => {
    const answer = await create({ version: '2.0.0' });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject({
      version: '2.0.0',
      channel: 'stable',
      platform: 'win32',
      architecture: 'x64',
      isDraft: true,
      isMandatory: false,
      rolloutPercentage: 100,
      fileName: 'Setup.exe',
      fileUrl: 'http://files.example/app/Setup.exe',
      fileSize: 500,
      sha512,
      downloadCount: 0,
    });
    expect(asked).toEqual(['HEAD files.example/app/Setup.exe']);
    expect((await auditOf(server, answer.body.data.id)).map((e) => e.event_type)).toEqual([
      'release.created',
    ]);
    expect((await create({ version: '2.0.0' })).body.code).toBe('ALREADY_EXISTS');
  });

  test('takes its name and kind from the address, and a hash in hex becomes base64', async () => {
    const answer = await create({
      fileUrl: 'http://files.example/a%20b/My%20App-1.2.ZIP?token=1#part',
      sha512: '00'.repeat(64),
      platform: 'darwin',
      isDraft: false,
      isMandatory: true,
      rolloutPercentage: 5,
    });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject({ fileName: 'My App-1.2.ZIP', sha512, isMandatory: true });
    expect(answer.body.data).toMatchObject({ isDraft: false, rolloutPercentage: 5 });
    expect(await releaseRow(server, answer.body.data)).toMatchObject({ file_kind: 'zip', storage_key: null });
  });

  test('repeated with its key is the first one, even when the file is gone', async () => {
    const sent = body();
    const send = () => api.call(calls.createFromUrl, { body: sent }, { 'idempotency-key': 'url-1' });
    const first = await send();
    serve = (_, response) => response.writeHead(404).end();
    const second = await send();
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.data).toEqual(first.body.data);
  });

  test.each([
    [{ version: '' }, 'version: Version is required'],
    [{ version: '1.0' }, 'version: Invalid semantic version: 1.0'],
    [{ version: `1.0.0-${'a'.repeat(95)}` }, 'version: Must be at most 100 characters'],
    [{ fileUrl: `http://a/${'a'.repeat(2000)}` }, 'fileUrl: Must be at most 2,000 characters'],
    [{ fileSize: 0 }, 'fileSize: Valid file size is required'],
    [{ fileSize: -5 }, 'fileSize: Valid file size is required'],
    [{ fileSize: 'x' }, 'fileSize: Valid file size is required'],
    [{ fileSize: undefined }, 'fileSize: Valid file size is required'],
    [{ fileUrl: undefined }, 'fileUrl: File URL is required'],
    [{ fileUrl: '' }, 'fileUrl: File URL is required'],
    [{ fileUrl: 'ftp://files.example/a.exe' }, 'fileUrl: Must be an http or https address'],
    [{ fileUrl: 'file:///etc/passwd.exe' }, 'fileUrl: Must be an http or https address'],
    [{ fileUrl: 'Setup.exe' }, 'fileUrl: Must be an http or https address'],
    [
      { fileUrl: 'http://me:secret@files.example/a.exe' },
      'fileUrl: Must not contain a user name or a password',
    ],
    [{ sha512: undefined }, 'sha512: SHA512 hash is required'],
    [{ sha512: '' }, 'sha512: SHA512 hash is required'],
    [{ sha512: 'abc' }, 'sha512: Must be a SHA-512 in base64 or hex'],
    [{ rolloutPercentage: 101 }, 'rolloutPercentage: Must be a whole number from 0 to 100'],
  ])('refuses %j without asking anyone', async (fields, sentence) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.error]).toEqual([400, sentence]);
    expect(connections).toBe(0);
  });

  test.each([
    'http://files.example/',
    'http://files.example/app.tar.gz',
    'http://files.example/.exe',
    'http://files.example/a%2Fb.exe',
    'http://files.example/a%00.exe',
    'http://files.example/download?file=a.exe',
  ])('needs a file name in its address, which %s has not', async (fileUrl) => {
    const answer = await create({ fileUrl });
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'fileUrl: Must end in a file name with one of .exe, .dmg, .zip, .nupkg, .AppImage, .deb, .rpm',
    ]);
    expect(connections).toBe(0);
  });
});

describe('the server of the file', () => {
  test('may refuse HEAD or be silent about the size: the first byte then tells', async () => {
    const ranged: RequestListener = (request, response) => {
      if (request.method === 'HEAD') response.writeHead(405).end();
      else response.writeHead(206, { 'content-range': 'bytes 0-0/500', 'content-length': 1 }).end('M');
    };
    serve = ranged;
    expect((await create()).status).toBe(201);
    expect(asked).toEqual(['HEAD files.example/app/Setup.exe', 'GET files.example/app/Setup.exe bytes=0-0']);
    serve = (request, response) => {
      if (request.method === 'HEAD') response.writeHead(200).end();
      else response.writeHead(200, { 'content-length': 500 }).write('M'); // all of it, slowly
    };
    expect((await create()).status).toBe(201);
  });

  test.each([
    [
      'has another size',
      { 'content-length': 501 },
      'fileSize: The file at this address has 501 bytes, not 500',
    ],
    [
      'does not say the size',
      { 'transfer-encoding': 'chunked' },
      'fileUrl: The server does not say how large the file is',
    ],
    [
      'compresses',
      { 'content-length': 500, 'content-encoding': 'gzip' },
      'fileUrl: The server does not say how large the file is',
    ],
  ])('%s', async (_, headers, sentence) => {
    serve = (__, response) => response.writeHead(200, headers as never).end();
    expect(await refusal('http://files.example/a.exe')).toBe(sentence);
  });

  test.each([404, 403, 500, 204, 304])('answers %d', async (status) => {
    serve = (_, response) => response.writeHead(status).end();
    expect(await refusal('http://files.example/a.exe')).toBe(
      `fileUrl: The server answered ${status} instead of the file`,
    );
  });

  test('is unknown, hangs up, or speaks no HTTP', async () => {
    expect(await refusal('http://nowhere.example/a.exe')).toBe('fileUrl: There is no server of this name');
    expect(await refusal('https://nowhere.example/a.exe')).toBe('fileUrl: There is no server of this name');
    serve = (request) => void request.socket.destroy();
    expect(await refusal('http://files.example/a.exe')).toBe('fileUrl: The server cannot be reached');
    serve = (request) => void request.socket.end('SSH-2.0-nothing\r\n');
    expect(await refusal('http://files.example/a.exe')).toBe('fileUrl: The server cannot be reached');
    // a server of plain HTTP at an https address
    expect(await refusal('https://files.example/a.exe')).toBe('fileUrl: The server cannot be reached');
  });

  test('has 5 seconds, whether names, answers or redirects are slow', async () => {
    const input = { fileUrl: 'http://files.example/a.exe', fileSize: 500 };
    const sentence = 'fileUrl: The server did not answer within 0.3 seconds';
    serve = () => undefined;
    expect(await probeFile(fakeOutbound, input, 300)).toMatchObject({ message: sentence });
    const slowNames = { ...fakeOutbound, resolve: () => new Promise<never>(() => undefined) };
    for (const scheme of ['http', 'https']) {
      const slow = { ...input, fileUrl: `${scheme}://files.example/a.exe` };
      expect(await probeFile(slowNames, slow, 300)).toMatchObject({ message: sentence });
    }
    const dead = { ...fakeOutbound, connect: () => new net.Socket().destroy() };
    expect(await probeFile(dead, input, 300)).toMatchObject({ failure: 'RULE_VIOLATED' });
    serve = (_, response) =>
      void setTimeout(() => response.writeHead(302, { location: '/next.exe' }).end(), 120);
    expect(await probeFile(fakeOutbound, input, 300)).toMatchObject({ message: sentence });
    serve = () => undefined;
    const before = performance.now();
    expect(await refusal(input.fileUrl)).toBe('fileUrl: The server did not answer within 5 seconds');
    expect(performance.now() - before).toBeLessThan(patience(20_000));
  });

  test('may redirect three times, also to another host, but not four', async () => {
    names['cdn.example'] = [publicAddress];
    const hops =
      (count: number): RequestListener =>
      (request, response) => {
        const at = Number(/(\d)/.exec(request.url!)?.[1] ?? 0);
        if (at < count) {
          response.writeHead(302, { location: `http://cdn.example/${at + 1}/a.exe` }).end();
        } else response.writeHead(200, { 'content-length': 500 }).end();
      };
    serve = hops(3);
    const answer = await create({ fileUrl: 'http://files.example/a.exe' });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data.fileUrl).toBe('http://files.example/a.exe');
    expect(asked.at(-1)).toBe('HEAD cdn.example/3/a.exe');
    serve = hops(4);
    expect(await refusal('http://files.example/a.exe')).toBe('fileUrl: Redirects more than 3 times');
  });
});

describe('our own network', () => {
  const inner = [
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::1',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '4000::1',
  ];

  test.each(inner)(
    '%s is not public: neither as an address, nor by name, nor by redirect',
    async (address) => {
      expect(isPublicAddress(address)).toBe(false);
      const literal = net.isIPv6(address) ? `[${address}]` : address;
      const sentence = 'fileUrl: Leads to an address that is not public';
      expect(await refusal(`http://${literal}/a.exe`)).toBe(sentence);
      expect(await refusal(`https://${literal}:8443/a.exe`)).toBe(sentence);
      names['inner.example'] = [address];
      names['mixed.example'] = [publicAddress, address];
      expect(await refusal('http://inner.example/a.exe')).toBe(sentence);
      expect(await refusal('http://mixed.example/a.exe')).toBe(sentence);
      expect(await refusal('https://inner.example/a.exe')).toBe(sentence);
      expect(connections).toBe(0);
      for (const target of [literal, 'inner.example']) {
        serve = (_, response) => response.writeHead(302, { location: `http://${target}/a.exe` }).end();
        expect(await refusal('http://files.example/a.exe')).toBe(sentence);
      }
      expect(connections).toBe(2);
      expect(asked).toEqual(Array(2).fill('HEAD files.example/a.exe'));
    },
  );

  test.each(['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '①②⑦.0.0.1', '0x7f000001', '[::ffff:7f00:1]'])(
    'is not reached by a disguise: %s',
    async (host) => {
      expect(await refusal(`http://${host}/a.exe`)).toBe('fileUrl: Leads to an address that is not public');
      expect(connections).toBe(0);
    },
  );

  test('is not reached by the name localhost in the real world either', async () => {
    const { port } = files.address() as AddressInfo;
    const input = { fileUrl: `http://localhost:${port}/a.exe`, fileSize: 500 };
    expect(await probeFile(realOutbound, input)).toMatchObject({
      message: 'fileUrl: Leads to an address that is not public',
    });
    expect(asked).toEqual([]);
  });

  test('is not reached by a name that changes its mind between two requests', async () => {
    let times = 0;
    names['rebinding.example'] = () => [times++ === 0 ? publicAddress : '127.0.0.1'];
    serve = (_, response) => response.writeHead(405).end();
    expect(await refusal('http://rebinding.example/a.exe')).toBe(
      'fileUrl: Leads to an address that is not public',
    );
    expect(connections).toBe(1);
  });

  test.each(['ftp://files.example/a.exe', 'file:///etc/passwd', 'gopher://files.example/', 'data:,x'])(
    'is not reached by a redirect to %s',
    async (location) => {
      serve = (_, response) => response.writeHead(301, { location }).end();
      expect(await refusal('http://files.example/a.exe')).toBe(
        'fileUrl: Redirects to an address that is neither http nor https',
      );
    },
  );

  test.each(['8.8.8.8', '1.1.1.1', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is another',
    async (address) => {
      expect(isPublicAddress(address)).toBe(true);
      const literal = net.isIPv6(address) ? `[${address}]` : address;
      expect((await create({ fileUrl: `http://${literal}/a.exe` })).status).toBe(201);
    },
  );
});
