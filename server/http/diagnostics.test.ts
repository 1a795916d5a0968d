import { describe, expect, test } from 'vitest';
import { makeApiKey } from '../../tests/factories.ts';
import { startTestServer, type Identity, type TestServer } from '../../tests/harness.ts';
import { readConfig } from '../config.ts';

const pages = ['/metrics', '/openapi.json', '/docs/', '/docs/static/swagger-ui.css'];
const from = (address: string) => ({ 'x-forwarded-for': address });
const behindProxy = (DIAGNOSTICS_ACCESS?: string) => ({
  trustProxy: ['127.0.0.1'],
  diagnosticsAccess: readConfig({ DIAGNOSTICS_ACCESS }).diagnosticsAccess,
});

let server: TestServer;

const statuses = async (headers: Record<string, string>, who?: Identity): Promise<number[]> =>
  Promise.all(
    pages.map(
      async (page) => (await fetch(server.url + page, { headers: { ...headers, ...who?.headers } })).status,
    ),
  );
const open = pages.map(() => 200);
const closed = pages.map(() => 403);

describe('metrics and the description of the API', () => {
  test('are open to this machine and to signed-in staff only', async () => {
    server = await startTestServer({ config: behindProxy() });
    const viewer = await server.signInAs('viewer');
    const key = await makeApiKey(server.api(await server.signInAs('super_admin')));
    const away = from('203.0.113.9');
    expect(await statuses({})).toEqual(open);
    expect(await statuses(away)).toEqual(closed);
    expect(await statuses(away, viewer)).toEqual(open);
    expect(await statuses(away, viewer.byCookie)).toEqual(open);
    expect(await statuses(away, key), 'API keys are not staff').toEqual(closed);
    expect(await statuses(away, { headers: { authorization: 'Bearer unknown' } })).toEqual(closed);
    const refusal = await fetch(`${server.url}/metrics`, { headers: away });
    expect(await refusal.json()).toMatchObject({
      success: false,
      code: 'FORBIDDEN',
      error: expect.stringContaining('DIAGNOSTICS_ACCESS'),
    });
    const head = await fetch(`${server.url}/metrics`, { method: 'HEAD', headers: away });
    expect(head.status).toBe(403);
    for (const path of ['/healthz', '/readyz'])
      expect((await fetch(server.url + path, { headers: away })).status, path).toBe(200);
  });

  test('stay closed behind a proxy on this machine that is not in TRUST_PROXY', async () => {
    server = await startTestServer();
    for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])
      expect(await statuses({ [header]: '127.0.0.1' }), header).toEqual(closed);
  });

  test('are open to direct requests from this machine, not to loopback addresses that a trusted proxy forwards', async () => {
    server = await startTestServer({ config: { ...behindProxy(), trustProxy: ['loopback'] } });
    for (const named of ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::1', '203.0.113.9, 127.0.0.2'])
      expect(await statuses(from(named)), named).toEqual(closed);
    expect(await statuses({})).toEqual(open);
  });

  test('are open to the addresses and ranges in DIAGNOSTICS_ACCESS only', async () => {
    server = await startTestServer({ config: behindProxy('203.0.113.0/24, 2001:db8::7') });
    const viewer = await server.signInAs('viewer');
    expect(await statuses(from('203.0.113.9'))).toEqual(open);
    expect(await statuses(from('2001:db8::7'))).toEqual(open);
    expect(await statuses(from('203.0.114.9'))).toEqual(closed);
    expect(await statuses({}), 'loopback is not listed').toEqual(closed);
    expect(await statuses({}, viewer), 'staff are not listed').toEqual(closed);
  });

  test('are open to everyone if DIAGNOSTICS_ACCESS is everyone', async () => {
    server = await startTestServer({ config: behindProxy('everyone') });
    expect(await statuses(from('198.51.100.7'))).toEqual(open);
  });
});
