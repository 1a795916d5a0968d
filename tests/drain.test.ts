import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { eventually, startTestServer } from './harness.ts';

test('a stopping server says so to balancers, serves on without keeping connections, and then closes the port', async () => {
  // again where a busy machine took all of the drain for the first call
  await eventually(async () => {
    const server = await startTestServer({ config: { drainMs: 4000 } });
    const agent = new Agent({ keepAlive: true });
    const get = (path: string) =>
      new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
        const sent = request(server.url + path, { agent }, (response) => {
          const { connection } = response.headers;
          response.resume().on('end', () => resolve({ status: response.statusCode!, connection }));
        });
        sent.on('error', reject).end();
      });
    expect(await get('/readyz')).toEqual({ status: 200, connection: undefined });

    const from = performance.now();
    const closing = server.close();
    await eventually(async () => expect(await get('/readyz')).toEqual({ status: 503, connection: 'close' }));
    const [published, refusal, health] = await Promise.all([
      get('/api/v1/keys'),
      fetch(`${server.url}/readyz`),
      get('/healthz'),
    ]);
    expect(published).toEqual({ status: 200, connection: 'close' });
    expect(refusal.headers.get('retry-after')).toBe('1');
    expect(await refusal.json()).toMatchObject({ code: 'UNAVAILABLE', error: 'This process is stopping.' });
    expect(health.status).toBe(200);
    await closing;
    expect(performance.now() - from).toBeGreaterThan(3900);
    await expect(get('/healthz')).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });
});

test('a stopping server sends the whole response to a client that reads slowly', async () => {
  const server = await startTestServer();
  const pieces: Buffer[] = [];
  const responses = () => Buffer.concat(pieces).toString('latin1').split('HTTP/1.1 200 OK').slice(1);
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let isSlow = true;
  // reads no further once the second response has begun
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (isSlow && responses().length > 1) socket.pause();
  });
  socket.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(17));
  await once(socket, 'pause');
  isSlow = false;
  const closing = server.close();
  await eventually(() =>
    fetch(`${server.url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  await once(socket.resume(), 'close');
  await closing;
  for (const response of responses()) {
    const [head, body] = response.split('\r\n\r\n', 2);
    expect(body).toHaveLength(Number(/content-length: (\d+)/.exec(head!)![1]));
  }
});
