import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isReset } from '../../tests/break-off.ts';
import { program } from '../../tests/binaries.ts';
import {
  eventually,
  startTestServer,
  startTwin,
  type Session,
  type TestServer,
} from '../../tests/harness.ts';
import { leftBy, MiB, nextVersion, uploader } from '../../tests/uploading.ts';

const arrival = {
  headersMs: 500,
  jsonMs: 500,
  windowMs: 1500,
  windowBytes: 4096,
  lingerMs: 2000,
  unreadMs: 500,
  lookMs: 50,
};
const server = await startTestServer({ arrival });
/** For what comes before a slow request and after it: a busy machine may send nothing for half a second. */
const beside = await startTwin(server, { config: { storage: server.context.config.storage } });
const staff = await beside.signInAs('binary_manager');
const up = uploader(server.url, server.api(staff), staff);
const upPatiently = uploader(beside.url, beside.api(staff), staff);

/** Opens a connection. `seen` is what it received; `closed` resolves when the server closed it, or it broke. */
function openConnection(url = server.url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const seen = { text: '', error: '' };
  socket.on('data', (bytes: Buffer) => (seen.text += bytes.toString('latin1')));
  socket.on('error', (error: NodeJS.ErrnoException) => (seen.error = error.code ?? error.message));
  const closed = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  // also of a test that failed: a file that it holds open is counted by the next
  onTestFinished(() => void socket.destroy());
  return { socket, seen, closed };
}

const headOf = (method: string, path: string, headers: Record<string, string | number>) =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ host: 'x', ...staff.headers, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
const json = (length: number) => ({ 'content-type': 'application/json', 'content-length': length });
const slowLogin = headOf('POST', '/api/v1/auth/login', json(1000));

/** Sends one byte at a time until the connection is closed. */
async function sendSlowly(socket: Socket): Promise<void> {
  while (socket.writable && !socket.destroyed) {
    socket.write('x');
    await sleep(40);
  }
}

const parseBody = (text: string) => JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n'))) as object;
const { arriving, openFiles } = leftBy(server);

describe('a request that arrives too slowly', () => {
  test.each([
    ['in its body', slowLogin, 'The body took too long to arrive.'],
    [
      'in its headers',
      'GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ',
      'The headers took too long to arrive.',
    ],
    ['before it begins', '', 'The headers took too long to arrive.'],
  ])('%s gets a 408, and the connection is closed', async (_, begin, error) => {
    const { socket, seen, closed } = openConnection();
    socket.write(begin);
    if (begin) void sendSlowly(socket);
    await closed;
    expect(seen.text).toMatch(/^HTTP\/1\.1 408 /);
    expect(parseBody(seen.text)).toMatchObject({ success: false, code: 'REQUEST_TIMEOUT', error });
    if (begin) await eventually(() => socket.destroyed || !socket.writable || seen.error !== '');
  });

  test('300 of them do not block other requests, and all are closed', async () => {
    // in their bodies: a busy machine may take 500 ms to read their headers, and behind them those of the others
    const { headersMs: _, ...ofBodies } = arrival;
    const { url } = await startTestServer({ arrival: ofBodies });
    const many = Array.from({ length: 300 }, () => openConnection(url));
    for (const { socket } of many) socket.write(`${slowLogin}{`);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await Promise.all(many.map(({ closed }) => closed));
    expect(many.filter(({ seen }) => !seen.text.startsWith('HTTP/1.1 408 '))).toEqual([]);
  });

  test('as a chunk of an upload is ended, and the chunk can be sent again', async () => {
    const bytes = program(100_000);
    const prepared = await upPatiently.prepare(bytes);
    const { socket, seen, closed } = openConnection();
    const path = `/api/v1/binaries/upload/chunk/${prepared.uploadId}/0`;
    const type = { 'content-type': 'application/octet-stream', 'content-length': bytes.length };
    socket.write(headOf('PUT', path, type));
    void sendSlowly(socket);
    await closed;
    expect(parseBody(seen.text)).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    socket.destroy();
    await upPatiently.sendAll(bytes, prepared);
    expect((await upPatiently.complete(bytes, prepared)).status).toBe(201);
  });

  test('as an upload form leaves no file behind', async () => {
    const put = vi.spyOn(server.context.storage, 'put');
    const { socket, seen, closed } = openConnection();
    const type = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 9e6 };
    socket.write(headOf('POST', '/api/v1/binaries/upload', type));
    socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\n');
    socket.write(program(MiB));
    await closed;
    expect(put).toHaveBeenCalledOnce();
    put.mockRestore();
    expect(parseBody(seen.text)).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    expect(await arriving()).toEqual([]);
  });
});

test.each([
  ['for its encoding', '/healthz', { 'content-encoding': 'gzip' }],
  ['for its path', '/%zz', {}],
  ['for a long part of its path', `/api/customers/${'x'.repeat(4000)}`, {}],
  ['for what it expects', '/healthz', { expect: 'more' }],
])('a request that is refused %s at once is not read for ever', async (_, path, headers) => {
  const { socket, seen, closed } = openConnection();
  socket.write(headOf('POST', path, { ...headers, 'content-length': 1e9 }));
  void sendSlowly(socket);
  await closed;
  expect(seen.text).toMatch(/^HTTP\/1\.1 4/);
});

test('a file that had arrived, but for what was still to be read when its connection ended, is not left open', async () => {
  const { storage } = server.context;
  const put = storage.put.bind(storage);
  const { socket, closed } = openConnection();
  let storing = 0;
  // as a slow disk; nothing taken at all, the end of the request might never be read
  async function* slowly<T>(pieces: AsyncIterable<T>) {
    for await (const piece of pieces) {
      await Promise.race([closed, sleep(1000)]);
      yield piece;
    }
  }
  vi.spyOn(storage, 'put').mockImplementationOnce(async (key, bytes) => {
    storing++;
    return put(key, slowly(bytes)).finally(() => storing--);
  });
  const form = Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\n'),
    program(250_000),
    Buffer.from('\r\n--b--\r\n'),
  ]);
  const type = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': form.length };
  socket.write(headOf('POST', '/api/v1/binaries/upload', type));
  socket.write(Buffer.concat([form, Buffer.from('This is no request, so the connection ends\r\n\r\n')]));
  await closed;
  await eventually(async () => expect([storing, await openFiles(), await arriving()]).toEqual([0, 0, []]));
});

test('an upload may take any time while bytes keep arriving', async () => {
  const bytes = program(64 * 1024);
  const prepared = await upPatiently.prepare(bytes);
  const slowly = () =>
    new ReadableStream({
      async start(controller) {
        for (let at = 0; at < bytes.length; at += arrival.windowBytes) {
          controller.enqueue(new Uint8Array(bytes.subarray(at, at + arrival.windowBytes)));
          await sleep(arrival.windowMs / 8);
        }
        controller.close();
      },
    });
  // a busy machine may send nothing for a whole window
  await eventually(async () => expect((await up.chunk(prepared.uploadId, 0, slowly())).status).toBe(200));
});

describe('a body that is too large', () => {
  let patient: TestServer;
  let sender: Session;
  beforeAll(async () => {
    // as in production: a busy machine takes its time to send and read all of the body
    patient = await startTestServer();
    sender = await patient.signInAs('binary_manager');
  });
  const login = (headers: Record<string, string>) =>
    headOf('POST', '/api/v1/auth/login', { 'content-type': 'application/json', ...headers });
  const size = 8 * MiB;
  const announced = login({ 'content-length': String(size) }) + ' '.repeat(size);
  const chunked = `${login({ 'transfer-encoding': 'chunked' })}${size.toString(16)}\r\n${' '.repeat(size)}\r\n0\r\n\r\n`;
  const form = (headers: Record<string, string | number>) =>
    headOf('POST', '/api/v1/binaries/upload', {
      'content-type': 'multipart/form-data; boundary=b',
      ...headers,
    });

  test.each([
    ['announced', () => announced],
    ['not announced', () => chunked],
    ['a form', () => form({ ...sender.headers, 'content-length': 23 * MiB }) + ' '.repeat(23 * MiB)],
  ])(
    '(%s) is read to its end, so that the client gets the 413; the connection stays open',
    async (_, all) => {
      for (let time = 0; time < 5; time++) {
        const { socket, seen } = openConnection(patient.url);
        // like a browser, reads nothing until everything is sent
        socket.pause();
        await new Promise((sent) => socket.write(all(), sent));
        socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
        socket.resume();
        await eventually(() => seen.text.includes('"status":"ok"') || seen.error !== '');
        expect(seen).toMatchObject({ text: expect.stringMatching(/^HTTP\/1\.1 413 /), error: '' });
        socket.destroy();
      }
    },
  );

  test('is read to its end before a connection is closed that the client wants closed', async () => {
    const last = login({ connection: 'close', 'content-length': String(size) }) + ' '.repeat(size);
    for (let time = 0; time < 5; time++) {
      const { socket, seen, closed } = openConnection(patient.url);
      socket.pause();
      await new Promise((sent) => socket.write(last, sent));
      socket.resume();
      await closed;
      expect(seen).toMatchObject({ text: expect.stringMatching(/^HTTP\/1\.1 413 /), error: '' });
      socket.destroy();
    }
  });

  test.each([
    ['JSON', () => login({ 'transfer-encoding': 'chunked' })],
    ['a form', () => form({ 'transfer-encoding': 'chunked' })],
  ])('and without end (%s) gets a 413, and the connection is closed', async (_, head) => {
    // hangs up soon, and waits for bodies as long as in service
    const { lingerMs, lookMs } = arrival;
    const { storage } = server.context.config;
    const { url } = await startTwin(server, { arrival: { lingerMs, lookMs }, config: { storage } });
    const { socket, seen } = openConnection(url);
    const piece = Buffer.from(`100000\r\n${' '.repeat(MiB)}\r\n`);
    socket.write(head());
    const gone = new Promise((resolve) => socket.once('close', resolve));
    while (!socket.destroyed) await new Promise((sent) => socket.write(piece, sent));
    await gone;
    expect(seen.text).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('large incomplete bodies', () => {
  let limited: TestServer;
  beforeAll(async () => {
    limited = await startTestServer({ arrival: { jsonBytesAtOnce: 3.5 * MiB } });
  });
  const login = (headers: Record<string, string | number>) =>
    headOf('POST', '/api/v1/auth/login', { expect: '100-continue', ...headers });
  const large = login(json(MiB));
  const chunked = login({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
  const inChunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
  /** Opens connections that send these heads, each of which the service has read. */
  const openAll = async (heads: string[]) => {
    const all = heads.map(() => openConnection(limited.url));
    for (const [n, { socket }] of all.entries()) socket.write(heads[n]!);
    await eventually(() => all.every(({ seen }) => seen.text.includes('100 Continue')));
    return all;
  };
  const send = (length: number) =>
    fetch(`${limited.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}'.padEnd(length),
    });

  test('share a memory limit: the next large one is refused, small ones are not, until memory is freed', async () => {
    const many = await openAll([chunked, large, large]);
    const almostAll = ' '.repeat(MiB - 1);
    for (const [n, { socket }] of many.entries()) socket.write(n === 0 ? inChunk(almostAll) : almostAll);
    await eventually(async () => {
      const refused = await send(MiB);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(await refused.json()).toMatchObject({ code: 'UNAVAILABLE' });
    });
    expect((await send(2)).status).toBe(400);
    const [small] = await openAll([chunked]);
    small!.socket.write(`${inChunk('{}')}0\r\n\r\n`);
    await eventually(() => small!.seen.text.includes('HTTP/1.1 400 '));
    for (const { socket } of many) socket.destroy();
    await eventually(async () => expect((await send(MiB)).status).toBe(400));
  });

  test('count by what has arrived: those that send nothing refuse no other', async () => {
    await openAll([chunked, chunked, large, large]);
    expect((await send(MiB)).status).toBe(400);
  });

  test('count by their pieces too, each of which takes more memory than its byte', async () => {
    const [tiny] = await openAll([chunked]);
    tiny!.socket.write(inChunk(' ').repeat(8000));
    await eventually(() => tiny!.seen.text.includes('HTTP/1.1 503 '));
  });

  test('no longer count when they are complete', async () => {
    for (let n = 0; n < 8; n++) expect((await send(MiB)).status).toBe(400);
  });
});

describe('the requests of a connection', () => {
  const file = program(16 * MiB);
  const { unreadMs, lookMs } = arrival;
  let [url, hastyUrl, impatientUrl, get] = ['', '', '', ''];
  let left: ReturnType<typeof leftBy>;
  beforeAll(async () => {
    // the short times would end the upload of the file on a busy machine, and what a test reads later
    const reading = await startTestServer();
    const by = await reading.signInAs('binary_manager');
    const made = await uploader(reading.url, reading.api(by), by).direct({
      version: nextVersion(),
      is_draft: 'false',
      file,
    });
    const { storage } = reading.context.config;
    const hasty = await startTwin(reading, { arrival: { unreadMs, lookMs }, config: { storage } });
    const impatient = await startTwin(reading, {
      arrival: { jsonMs: arrival.jsonMs, lookMs },
      config: { storage },
    });
    [url, hastyUrl, impatientUrl] = [reading.url, hasty.url, impatient.url];
    left = leftBy(reading);
    get = headOf('GET', new URL(made.body.data.fileUrl).pathname, by.headers);
  });

  test('are handled one after the other, so that a client that reads nothing holds one file', async () => {
    const { socket, seen } = openConnection(url);
    socket.pause();
    socket.write(get.repeat(3) + headOf('GET', '/healthz', { connection: 'close' }));
    await eventually(async () => (await left.openFiles()) > 0);
    for (let reads = 0; reads < 5; reads++) expect(await left.openFiles()).toBe(1);
    socket.resume();
    await new Promise((resolve) => socket.once('end', resolve));
    expect(seen.text.match(/HTTP\/1\.1 \d+ OK/g)).toHaveLength(4);
    expect(parseBody(seen.text)).toMatchObject({ status: 'ok' });
  });

  test('are not late while they wait for their turn', async () => {
    const { socket, seen, closed } = openConnection(impatientUrl);
    socket.pause();
    socket.write(get + slowLogin);
    await sleep(3 * arrival.jsonMs);
    socket.resume();
    await closed;
    expect(seen.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
  });

  test('close it when more than 16 wait', async () => {
    const { socket, closed } = openConnection(url);
    socket.pause();
    socket.write(get.repeat(9) + headOf('GET', '/%zz', {}).repeat(9));
    socket.resume();
    await closed;
    await eventually(async () => (await left.openFiles()) === 0);
  });

  test('get no response to what is no request in the bytes of the one before it', async () => {
    const { socket, seen, closed } = openConnection(url);
    socket.write(get);
    await once(socket, 'data');
    socket.pause();
    socket.write('This is no request\r\n\r\n');
    await eventually(async () => (await left.openFiles()) === 0);
    socket.resume();
    await closed;
    expect(seen.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });

  test('close it when nothing of a response is read for long, but not while it is read slowly', async () => {
    // a busy machine may keep also the slow one from reading for that long
    await eventually(async () => {
      const [stalled, slow] = [openConnection(hastyUrl), openConnection(hastyUrl)];
      stalled.socket.pause();
      for (const { socket } of [stalled, slow]) socket.write(get);
      while (slow.seen.text.length < file.length && !slow.socket.readableEnded && !slow.socket.destroyed) {
        slow.socket.resume();
        await Promise.race([once(slow.socket, 'data'), slow.closed]);
        slow.socket.pause();
        await sleep(5);
      }
      stalled.socket.resume();
      await stalled.closed;
      const wasReset = await isReset(stalled.socket);
      for (const { socket } of [stalled, slow]) socket.destroy();
      expect(wasReset).toBe(true);
      expect(stalled.seen.text.length).toBeLessThan(file.length);
      expect(slow.seen.text.length).toBeGreaterThan(file.length);
    });
  });
});
