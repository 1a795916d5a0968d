import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { eventually, startTestServer } from './harness.ts';

test('a stopping server says so to balancers, serves on without keeping connections, and then closes the port', async () => {
  const server = await startTestServer({ config: { drainMs: 4000 } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
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
  expect(await get('/api/v1/keys')).toEqual({ status: 200, connection: 'close' });
  const refusal = await fetch(`${server.url}/readyz`);
  expect(refusal.headers.get('retry-after')).toBe('1');
  expect(await refusal.json()).toMatchObject({ code: 'UNAVAILABLE', error: 'This process is stopping.' });
  expect((await get('/healthz')).status).toBe(200);
  await closing;
  expect(performance.now() - from).toBeGreaterThan(3900);
  await expect(get('/healthz')).rejects.toThrow('ECONNREFUSED');
  agent.destroy();
});
