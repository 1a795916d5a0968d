import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorStatus, type ErrorCode } from '../contract/errors.ts';
import { contract } from '../contract/index.ts';
import { session } from '../contract/session.ts';
import { customers } from '../contract/customers.ts';
import { licenses } from '../contract/licenses.ts';
import { everyCall } from '../tests/every-call.ts';
import { makeApiKey, makeLicense, validateOn } from '../tests/factories.ts';
import { password, startTestServer } from '../tests/harness.ts';
import { errorsOf } from './http/errors-of.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');

type Json = Record<string, unknown>;

/** What comes back for a path sent as it stands: fetch would tidy it up first. */
function rawGet(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const sent = httpRequest({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    sent.on('error', reject).end();
  });
}

/** What comes back for bytes that need not be HTTP. */
function rawBytes(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

const expectEnvelope = (text: string, code: ErrorCode) => {
  const body = JSON.parse(text) as Json;
  expect(body).toMatchObject({
    success: false,
    code,
    error: expect.stringMatching(/\w.*\.?$/),
    requestId: expect.any(String),
  });
  expect(JSON.stringify(body)).not.toMatch(/stack|node_modules|\.ts:/);
};

describe('health', () => {
  test('is answered to anyone: the process, and the process with its database', async () => {
    const health = async (path: string) => {
      const response = await fetch(server.url + path);
      return [response.status, await response.json()];
    };
    expect(await health('/healthz')).toEqual([200, { status: 'ok' }]);
    for (const path of ['/readyz', '/readyz/'])
      expect(await health(path)).toEqual([200, { status: 'ready', storage: 'ok' }]);
  });

  test('has metrics for Prometheus: calls by route and status, the pool and the database', async () => {
    await server.api(admin).call(customers.get, { params: { id: '01920000-0000-7000-8000-000000000000' } });
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await response.text();
    expect(text).toMatch(
      /lanyard_http_request_duration_seconds_count\{method="GET",route="\/api\/customers\/:id",status="404"\} 1/,
    );
    expect(text).toMatch(/^lanyard_database_up 1$/m);
    expect(text).toMatch(/^lanyard_database_connections \d+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes /m);
    expect(text, 'no address with an id in it').not.toContain('01920000');
  });
});

describe('every answer', () => {
  const ask = (path: string) => fetch(server.url + path, { headers: admin.headers });

  test('is that of the same call with a slash at its end', async () => {
    for (const path of ['/api/customers', '/api/rbac/roles', '/api/v1/licenses', '/api/v1/licenses/no-id'])
      expect((await ask(`${path}/`)).status, path).toBe((await ask(path)).status);
    const headers = { ...admin.headers, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'With a slash', country: 'DE' });
    expect((await fetch(`${server.url}/api/customers/`, { method: 'POST', headers, body })).status).toBe(201);
  });

  test.each(['/healthz', '/login', '/api/customers', '/api/nothing', '/%zz', '/openapi.json', '/docs/'])(
    'of %s may be framed by nobody and read as nothing else',
    async (path) => {
      const { headers } = await ask(path);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('strict-transport-security'), 'this is http').toBeNull();
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{10,}$/);
    },
  );

  test.each(['/healthz', '/api/customers', '/api/nothing', '/openapi.json'])(
    'of %s may load nothing, since it is data',
    async (path) => {
      const { headers } = await ask(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    },
  );

  test.each(['/login', '/', '/licenses', '/docs/'])(
    'of %s runs only what this server serves, since it is a page',
    async (path) => {
      const { headers } = await ask(path);
      const policy = headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'self'");
      expect(policy).toMatch(/script-src 'self' 'wasm-unsafe-eval'(;|$)/);
      expect(policy).toContain("object-src 'none'");
      expect(policy).toContain("base-uri 'none'");
      expect(policy).not.toMatch(/script-src[^;]*('unsafe-inline'|'unsafe-eval'|\*|data:)/);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/);
    },
  );

  test('of the API is kept by no cache, and opens to no other origin', async () => {
    const { headers } = await fetch(`${server.url}/api/customers`, {
      headers: { ...admin.headers, origin: 'https://evil.example' },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test('that is a failure names the request as its header does', async () => {
    const response = await fetch(`${server.url}/api/customers`);
    const body = (await response.json()) as Json;
    expect(response.status).toBe(401);
    expect(body).toEqual({
      success: false,
      error: 'Sign in first.',
      code: 'UNAUTHENTICATED',
      requestId: response.headers.get('x-request-id'),
    });
  });
});

describe('an address that is nothing', () => {
  test.each([
    '/api/nothing',
    '/api',
    '/api/v1/licenses/',
    '/api/customers/../../../etc/passwd',
    '/api/customers/..%2f..%2f..%2fetc%2fpasswd',
    '/api/%2e%2e/%2e%2e/etc/passwd',
    '/assets/..%2f..%2fpackage.json',
    '/assets/../../package.json',
    '/assets/nothing.js',
    '/assets/',
    '/assets',
    '/assets/%00',
    '/assets/%ff',
    '/assets/.',
    '/assets/..%5c..%5cpackage.json',
    '/analytics/',
    '/.env',
    '/package.json',
    '/docs/nothing',
    '/docs/static/%00',
    '/docs/static/..%5c..%5cpackage.json',
    '//[',
    '//',
    '/%00',
    '/%ff',
    '/%',
    '/%E0%A4%A',
    '/api/licenses/%00/activations',
    '/api/licenses/%c0%ae/activations',
    `/api/customers/${'x'.repeat(4000)}`,
    `/${'a/'.repeat(3000)}`,
    '*',
    'http://elsewhere.example/api/nothing',
    '/api/customers?search=%00',
    '/api/customers?search=%ff',
    '/api/customers?__proto__=1',
    '/api/customers?constructor[prototype]=1',
    '/api/customers?limit=1&limit=2',
    `/api/customers?${'a=1&'.repeat(3000)}`,
  ])('%s: the envelope or the console, never an error of ours', async (path) => {
    const { status, text } = await rawGet(path, admin.headers);
    expect(status, text.slice(0, 300)).toBeLessThan(500);
    if (status === 200) expect(text).toMatch(/^(<!doctype html>|\{"success":true)/i);
    else expectEnvelope(text, expect.stringMatching(/^(NOT_FOUND|INVALID_INPUT)$/) as ErrorCode);
  });

  test.each(['/api/nothing', '/API/customers'])('%s is no screen of the console', async (path) => {
    expect((await rawGet(path, admin.headers)).status).toBe(404);
  });

  test.each([
    { range: 'bytes=999999999-' },
    { range: 'bytes=-0' },
    { range: 'bytes=x' },
    { 'if-match': '"another"' },
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  ])('or a part or state of a file that is not there is refused: %j', async (headers) => {
    for (const path of ['/docs/static/swagger-ui.css', '/licenses', '/favicon.svg']) {
      const { status, text } = await rawGet(path, headers);
      expect(status, text.slice(0, 300)).toBeLessThan(500);
      if (status !== 200)
        expectEnvelope(text, expect.stringMatching(/^(NOT_FOUND|INVALID_INPUT)$/) as ErrorCode);
    }
  });

  test('is none for HEAD where GET has a screen', async () => {
    for (const path of ['/', '/licenses', '/favicon.svg', '/docs/', '/nothing.js'])
      expect((await rawGet(path, {}, 'HEAD')).status, path).toBe((await rawGet(path)).status);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'by the method %s answers the envelope',
    async (method) => {
      const { status, text } = await rawGet('/api/customers/trash', admin.headers, method);
      expect([400, 404]).toContain(status);
      expectEnvelope(text, expect.any(String) as ErrorCode);
    },
  );

  test('that is longer than any header may be is refused in the envelope', async () => {
    const { status, text } = await rawGet(`/api/customers?search=${'x'.repeat(40_000)}`, admin.headers);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(JSON.parse(text)).toMatchObject({
      success: false,
      code: expect.any(String),
      error: expect.any(String),
    });
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a header that is none', 'GET /healthz HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n'],
    [
      'two lengths',
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    [
      'length and chunks',
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('or %s is refused in the envelope, and the server lives on', async (_, bytes) => {
    const answer = await rawBytes(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ success: false, code: 'INVALID_INPUT' });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});

describe('a body', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, type?: string) =>
    fetch(`${server.url}/api/customers`, {
      method: 'POST',
      body,
      headers: { ...admin.headers, ...(type === undefined ? {} : { 'content-type': type }) },
    });

  test.each([
    ['broken JSON', '{"name":', 'application/json', 'INVALID_INPUT'],
    ['no body', '', 'application/json', 'INVALID_INPUT'],
    ['null', 'null', 'application/json', 'INVALID_INPUT'],
    ['a list', '[]', 'application/json', 'INVALID_INPUT'],
    ['a word', '"x"', 'application/json', 'INVALID_INPUT'],
    [
      '__proto__',
      '{"__proto__":{"admin":true},"name":"A","country":"DE"}',
      'application/json',
      'INVALID_INPUT',
    ],
    [
      'constructor.prototype',
      '{"constructor":{"prototype":{}},"name":"A","country":"DE"}',
      'application/json',
      'INVALID_INPUT',
    ],
    ['XML', '<a/>', 'application/xml', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a form', 'name=A&country=DE', 'application/x-www-form-urlencoded', 'UNSUPPORTED_MEDIA_TYPE'],
    ['text', '{"name":"A","country":"DE"}', 'text/plain', 'UNSUPPORTED_MEDIA_TYPE'],
    ['no type a parser knows', '{}', 'x', 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'more than 1 MiB',
      JSON.stringify({ name: 'x'.repeat(1024 * 1024), country: 'DE' }),
      'application/json',
      'TOO_LARGE',
    ],
    [
      'a text of nearly 1 MiB',
      JSON.stringify({ name: 'x'.repeat(1024 * 1000), country: 'DE' }),
      'application/json',
      'INVALID_INPUT',
    ],
    ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), 'application/json', 'INVALID_INPUT'],
    ['JSON with a byte order mark', '﻿{"name":1}', 'application/json', 'INVALID_INPUT'],
  ] as const)('of %s is refused in the envelope', async (_, body, type, code) => {
    const answer = await post(body, type);
    expect(answer.status).toBe(errorStatus[code]);
    expectEnvelope(await answer.text(), code);
  });

  test.each(['application/json', 'application/octet-stream'])('of %s may not be compressed', async (type) => {
    const body = gzipSync('{"name":"A","country":"DE"}');
    const send = (encoding: string) =>
      fetch(`${server.url}/api/customers`, {
        method: 'POST',
        body,
        headers: { ...admin.headers, 'content-type': type, 'content-encoding': encoding },
      });
    const answer = await send('gzip');
    expect(answer.status).toBe(415);
    expect(await answer.text()).toContain('must not be compressed');
    expect(await (await send('Identity')).text()).not.toContain('compressed');
  });

  test('may name its charset', async () => {
    expect((await post('{"name":"A","country":"DE"}', 'application/json; charset=utf-8')).status).toBe(201);
  });

  test('in an encoding other than UTF-8 is refused, and stores no name without its letters', async () => {
    const answer = await post(
      Buffer.from('{"name":"M\u00fcnchen","country":"DE"}', 'latin1'),
      'application/json',
    );
    expect(answer.status).toBe(400);
    expectEnvelope(await answer.text(), 'INVALID_INPUT');
    expect((await post('{"name":"M\u00fcnchen","country":"DE"}', 'application/json')).status).toBe(201);
  });

  test('may have 20,000 values, and one of more is refused before it is read, whoever sends it', async () => {
    const said = async (text: string) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${server.url}/api/v1/auth/login`, { method: 'POST', body: text, headers });
      expect(answer.status).toBe(400);
      return ((await answer.json()) as { error: string }).error;
    };
    const tooMany = 'body: Must have at most 20,000 values';
    expect(await said(`[${'1,'.repeat(19_999)}1]`)).toBe('body: Must be an object');
    expect(await said('['.repeat(20_000))).toBe('The body is not valid JSON.');
    for (const part of ['[', '{"a":', '1,', '[[]],', '{},'])
      expect(await said(`[${part.repeat(20_000)}`), part).toBe(tooMany);
  });

  test('may have a text of any signs, which are no values', async () => {
    const name = `"\\${'[{,'.repeat(10_000)}`;
    const answer = await post(JSON.stringify({ name, country: 'DE' }), 'application/json');
    expect(await answer.json()).toMatchObject({ error: 'name: Must be at most 200 characters' });
  });

  test('on a call that takes none is refused, and named', async () => {
    const answer = await fetch(`${server.url}/api/v1/auth/logout`, {
      method: 'POST',
      body: '{"all":true}',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toBe('body: This call takes no body');
  });
});

describe('the OpenAPI document', () => {
  let document: {
    openapi: string;
    info: { description: string };
    paths: Record<string, Record<string, Json>>;
    components: { schemas: Json };
  };
  beforeAll(async () => {
    document = (await (await fetch(`${server.url}/openapi.json`)).json()) as typeof document;
  });

  test('is of version 3.1 and holds every call of the contract, and no other', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    for (const header of ['Idempotency-Key', 'If-Match', 'Retry-After', 'X-Machine-Id', 'X-Machine-Sequence'])
      expect(document.info.description).toContain(header);
    expect(document.paths['/api/v1/updates/admin/rollout/{releaseId}']).toMatchObject({
      post: { description: 'Staff with rollouts:create or rollouts:update.' },
    });
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(
      everyCall.map(([, route]) => `${route.method} ${route.path}`).toSorted(),
    );
  });

  test('describes parameters, body, success and every failure of each call', () => {
    for (const [id, route] of everyCall) {
      const operation = document.paths[route.path]![route.method.toLowerCase()] as {
        operationId: string;
        parameters: { name: string; in: string; required: boolean; schema: Json }[];
        requestBody?: Json;
        responses: Record<string, Json>;
        security: Json[];
      };
      expect(operation.operationId).toBe(id);
      const inPath = operation.parameters
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name);
      expect(inPath, id).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
      expect(Boolean(operation.requestBody), id).toBe(Boolean(route.body ?? route.bodyKind));
      const success = route.status ?? (route.answer || route.csv || route.file ? 200 : 204);
      const successes = Object.keys(route.raw ?? { [success]: null });
      expect(Object.keys(operation.responses), id).toEqual(expect.arrayContaining(successes));
      const ofBody = route.body || route.bodyKind ? (['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : [];
      const ofPath = /id\}/i.test(route.path) ? (['NOT_FOUND'] as const) : [];
      for (const code of [...ofBody, ...ofPath, ...(route.errors ?? [])])
        expect(Object.keys(operation.responses), id).toContain(String(errorStatus[code]));
      const implied = errorsOf({ ...route, errors: [] });
      expect(route.errors?.filter((code) => implied.includes(code)) ?? [], id).toEqual([]);
      expect(operation.security.length === 0, id).toBe(route.access.kind === 'public');
    }
  });

  test('refers to nothing that is not in it', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
    expect(refs.length).toBeGreaterThan(10);
    for (const ref of new Set(refs))
      expect(document.components.schemas, ref).toHaveProperty(ref.replace('#/components/schemas/', ''));
    for (const schema of Object.values(document.components.schemas))
      expect(schema).not.toHaveProperty('$ref');
    expect(JSON.stringify(document)).not.toMatch(/"\$(defs|schema)"/);
  });

  test('has a page to read it on', async () => {
    const response = await fetch(`${server.url}/docs/`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('swagger-ui');
    for (const form of ['json', 'yaml'])
      expect(JSON.parse(await (await fetch(`${server.url}/docs/${form}`)).text())).toEqual(document);
  });
});

describe('the log', () => {
  test('holds no password, token, API key or license key, at any level, whatever goes wrong', async () => {
    const lines: string[] = [];
    const own = await startTestServer({ config: { logLevel: 'trace' }, onLog: (line) => lines.push(line) });
    const staff = await own.signInAs('super_admin');
    const api = own.api(staff);
    const key = await makeApiKey(api);
    const license = await makeLicense(api);
    await validateOn(own.api(key), license, 'machine-secret');
    await own.api().call(session.login, { body: { email: staff.email, password: 'a wrong password' } });
    await api.call(licenses.list, { query: { search: license.licenseKey } });
    await api.call(contract.activations.list, { params: { licenseKey: license.licenseKey } });
    await fetch(`${own.url}/api/nothing/${license.licenseKey}?token=${staff.accessToken}`);
    await fetch(`${own.url}/api/customers/%ff?key=${key.key}`);
    await own.pool.query('drop table idempotency_keys');
    const failed = await api.call(
      customers.create,
      { body: { name: 'Boom', country: 'DE' } },
      { 'idempotency-key': 'x' },
    );
    expect(failed.status).toBe(500);
    await own.pool.query('alter table licenses add constraint broken check (max_activations < 50)');
    expect(
      (await api.call(licenses.update, { params: { id: license.licenseId }, body: { maxActivations: 60 } }))
        .status,
    ).toBe(500);
    await own.close();
    const log = lines.join('\n');
    expect(log).toContain(failed.body.requestId);
    expect(log.length).toBeGreaterThan(500);
    const secrets = {
      password,
      wrong: 'a wrong password',
      cookie: staff.cookie.split('=')[1]!,
      token: staff.accessToken,
      apiKey: key.key.slice(-43),
      licenseKey: license.licenseKey,
    };
    for (const [what, secret] of Object.entries(secrets)) expect(log.includes(secret), what).toBe(false);
  });
});
