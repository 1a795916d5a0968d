import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import net from 'node:net';
import { ReadableStream } from 'node:stream/web';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeServer, startProxy } from './fake-server.testing.ts';
import { createHttp, proxyFor } from './http.ts';

test.each([
  ['https://a.example/', {}, undefined],
  ['https://a.example/', { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128/'],
  ['https://a.example/', { https_proxy: 'p:3128', HTTPS_PROXY: 'http://other' }, 'http://p:3128/'],
  ['https://a.example/', { HTTP_PROXY: 'http://p:3128' }, undefined],
  ['https://a.example/', { ALL_PROXY: 'https://p:3128' }, 'https://p:3128/'],
  ['https://a.example/', { HTTPS_PROXY: 'http://p', NO_PROXY: '*' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: 'http://p', NO_PROXY: 'b.example, a.example' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: 'http://p', no_proxy: '.example' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: 'http://p', NO_PROXY: 'example' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: 'http://p', NO_PROXY: '*.EXAMPLE' }, undefined],
  ['https://bada.example/', { HTTPS_PROXY: 'http://p', NO_PROXY: 'a.example' }, 'http://p/'],
  ['https://a.example/', { HTTPS_PROXY: 'http://p', NO_PROXY: 'a.example:443' }, undefined],
  ['https://a.example:8443/', { HTTPS_PROXY: 'http://p', NO_PROXY: 'a.example:443' }, 'http://p/'],
  ['https://[::1]:8443/', { HTTPS_PROXY: 'http://p', NO_PROXY: '::1' }, undefined],
  ['https://[::1]:8443/', { HTTPS_PROXY: 'http://p', NO_PROXY: '[::1]:8443' }, undefined],
  ['https://10.1.2.3/', { HTTPS_PROXY: 'http://p', NO_PROXY: '10.1.2.3' }, undefined],
])('the proxy for %s with %o is %s', (url, env: Record<string, string>, proxy) => {
  expect(proxyFor(new URL(url), env)?.href).toBe(proxy);
});

test('a proxy does not see what goes to this computer in clear', async () => {
  const fake = await startFakeServer();
  const proxy = await startProxy();
  const env = { HTTP_PROXY: proxy.host, HTTPS_PROXY: proxy.host, ALL_PROXY: proxy.host };
  const client = await fake.client({}, { env });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  expect(proxy.asked).toEqual([]);
});

test('a proxy that refuses, is not there, or is of another kind, is no answer', async () => {
  const fake = await startFakeServer();
  const proxy = await startProxy('s3cret');
  const problemWith = async (HTTPS_PROXY: string) => {
    const client = await fake.client({ server: 'https://lanyard.test' }, { env: { HTTPS_PROXY } });
    const result = await client.check();
    expect(result).toMatchObject({ valid: false, code: 'NO_ANSWER' });
    return result.problem;
  };
  expect(await problemWith(proxy.host)).toContain('407');
  // as curl, which sends the bytes as they are: here an ä in Latin-1
  expect(await problemWith(`http://hospital:%E4@${proxy.host}`)).toContain('407');
  expect(await problemWith('127.0.0.1:9')).toContain('ECONNREFUSED');
  expect(await problemWith('socks5://127.0.0.1:9')).toContain('neither http nor https');
  expect(await problemWith('http://')).toContain('HTTPS_PROXY or ALL_PROXY');
});

test.each(['', 'HTTP/1.1 200 Connection Established\r\n\r\n'])(
  'a proxy that says %j and then nothing is given up after the given time',
  async (says) => {
    const proxy = net.createServer((socket) => {
      socket.on('error', () => undefined);
      if (says) socket.write(says);
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as net.AddressInfo;
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const http = createHttp('https://lanyard.test', { fetch: undefined, timeoutMs: 300, env });
    expect(await http('GET', '/')).toMatchObject({ problem: expect.stringContaining('300 ms') as string });
  },
);

test('a server that changes the protocol is no answer, and holds nobody up', async () => {
  const strange = net.createServer((socket) => {
    socket.on('error', () => undefined);
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    socket.once('data', () => socket.write(head));
  });
  await new Promise<void>((resolve) => void strange.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void strange.close());
  const fake = await startFakeServer();
  const server = `http://127.0.0.1:${(strange.address() as net.AddressInfo).port}`;
  const client = await fake.client({ server, timeoutMs: 1000 });
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  expect(await readdir(client.folder)).not.toContain('lock');
});

test('a fetch that does not hear the signal is given up all the same', async () => {
  const never = () => new Promise<never>(() => undefined);
  const http = createHttp('https://lanyard.test', { fetch: never, timeoutMs: 300, env: {} });
  expect(await http('GET', '/')).toMatchObject({ problem: expect.stringContaining('300 ms') as string });
});

test('the path of the server address is kept, and a redirect is not followed', async () => {
  const fake = await startFakeServer();
  fake.instead = () => ({ status: 302, body: '', headers: { location: `${fake.url}/elsewhere` } });
  const http = createHttp(`${fake.url}/lanyard/`, { fetch: undefined, timeoutMs: 5000, env: {} });
  expect(await http('POST', '/api', { body: {} })).toMatchObject({ status: 302 });
  expect(fake.calls.map(({ path }) => path)).toEqual(['/lanyard/api']);
});

test('an answer without an end is given up', async () => {
  const fake = await startFakeServer();
  fake.instead = () => ({ status: 200, body: 'x'.repeat(5_000_000) });
  const http = createHttp(fake.url, { fetch: undefined, timeoutMs: 60_000, env: {} });
  expect(await http('GET', '/')).toMatchObject({ problem: expect.stringContaining('too long') as string });
});

test('an answer without an end is given up also through a fetch of the program', async () => {
  const chunk = Buffer.alloc(1_000_000, 'x');
  let sent = 0;
  let isEnded = false;
  const endless = createServer((_, response) => {
    response.on('close', () => (isEnded = true)).on('error', () => undefined);
    const go = (): void => {
      if (isEnded || sent >= 200) return;
      sent += 1;
      response.write(chunk, () => go());
    };
    go();
  });
  await new Promise<void>((resolve) => void endless.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    endless.closeAllConnections();
    endless.close();
  });
  const server = `http://127.0.0.1:${(endless.address() as net.AddressInfo).port}`;
  const call = createHttp(server, { fetch, timeoutMs: 60_000, env: {} });
  expect(await call('GET', '/')).toMatchObject({ problem: expect.stringContaining('too long') as string });
  await expect.poll(() => isEnded).toBe(true);
  expect(sent).toBeLessThan(30);
});

test('a fetch that hands in only a text, or characters cut in two, is read as a whole', async () => {
  const reply = { status: 200, headers: { get: () => null } };
  const bytes = Buffer.from('{"name":"Zürich"}');
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const text = () => Promise.resolve(bytes.toString());
  for (const answer of [
    { ...reply, text },
    { ...reply, text, body: null },
    { ...reply, text, body: pieces },
  ]) {
    const call = createHttp('https://lanyard.test', { fetch: async () => answer, timeoutMs: 3000, env: {} });
    expect(await call('GET', '/')).toEqual({ status: 200, text: bytes.toString(), retryAfter: undefined });
  }
});

test('a fetch of the program is used instead', async () => {
  const fake = await startFakeServer();
  const asked: string[] = [];
  const client = await fake.client({ fetch: (url, request) => fetch(asked[asked.push(url) - 1]!, request) });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  expect(asked).toEqual([`${fake.url}/api/v1/machines/enroll`]);
  fake.instead = () => 'hang';
  const impatient = await fake.client({ fetch, folder: client.folder, timeoutMs: 300 });
  const result = await impatient.check();
  expect(result).toMatchObject({ valid: true, source: 'kept' });
  expect(result.problem).toContain('300 ms');
});

test('the license key and the token go in clear to this computer only', async () => {
  const fake = await startFakeServer();
  for (const server of ['http://lanyard.example', 'HTTP://10.0.0.7:8080/', 'http://localhost.example'])
    await expect(fake.client({ server }), server).rejects.toThrow(/server: .*https/);
  for (const server of [
    'http://localhost:1',
    'http://127.0.0.1:1',
    'http://[::1]:1',
    'https://lanyard.example',
  ])
    await expect(fake.client({ server }), server).resolves.toBeDefined();
});
