import fc from 'fast-check';
import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { addressOf } from '../contract/address.ts';
import { errorBody, errorStatus, type ErrorBody } from '../contract/errors.ts';
import type { Route } from '../contract/route.ts';
import { anySign } from './any-sign.ts';
import { inLanes } from './in-lanes.ts';
import { everyCall } from './every-call.ts';
import { fuzzedCalls, type Json } from './fuzz-calls.ts';
import { largest, nasty, nastyText, oddHeaders, toText, tricks } from './fuzz-input.ts';
import { eventually, startTestServer } from './harness.ts';

type Reply = { status: number; text: string };

// Sign-ins come from many addresses, so that the throttle does not hide other responses.
const server = await startTestServer({
  config: { trustProxy: ['127.0.0.1'] },
  outbound: {
    resolve: () => Promise.reject(Object.assign(new Error('nowhere'), { code: 'ENOTFOUND' })),
    connect: (to) => connect({ ...to, host: 'nowhere.example' }),
  },
});
const admin = await server.signInAs('super_admin');
const { headers } = admin;
const { params, bodies } = await fuzzedCalls(server, admin);

// --- sending --------------------------------------------------------------------------------------------------

const agent = new Agent({ keepAlive: true, maxSockets: 12 });
let sent = 0;

/** Sends the request unmodified; fetch would normalize the path. */
function send(
  method: string,
  path: string,
  body?: string | Buffer,
  extra: Record<string, string> = {},
): Promise<Reply> {
  const { hostname, port } = new URL(server.url);
  const from = `10.${(++sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        agent,
        hostname,
        port,
        method,
        path,
        headers: { ...headers, 'x-forwarded-for': from, ...type, ...length, ...extra },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      },
    );
    // A response to a body that is too large arrives before the body is sent completely.
    request.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET'
        ? resolve({ status: 413, text: '' })
        : reject(error),
    );
    request.end(body);
  });
}

const pathOf = (route: Route) => addressOf(route, { params });

// --- judging --------------------------------------------------------------------------------------------------

/** The tables that record the calls themselves; invalid input must not change the rows of any other. */
const recordsOfCalls = [
  'audit_entries',
  'audit_pending',
  'audit_refusals',
  'sessions',
  'validations',
  'validations_other',
  'refusals',
  'login_failures',
  // a feed accepts any machine id, and records its check
  'machines',
  'release_offers',
  'update_events',
  'update_events_other',
  'update_days',
  'day_figures',
  // batches of such records that were written
  'update_event_ids',
];

async function fingerprint(): Promise<Record<string, string>> {
  const { rows } = await server.pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  );
  const tables = rows.map((row) => row.name);
  expect(tables, 'what is left out is there').toEqual(expect.arrayContaining(recordsOfCalls));
  const names = tables.filter((name) => !recordsOfCalls.includes(name));
  expect(names.length).toBeGreaterThan(8);
  const all = names.map(async (name) => {
    const result = await server.pool.query<{ sum: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as sum from ${name} t`,
    );
    return [name, result.rows[0]!.sum] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

/**
 * Asserts that a response is not a server error and, if it is a refusal, has the error format. There are thousands of
 * them, and `expect` would take a tenth of the time.
 */
function expectAnswer({ status, text }: Reply, what: string): ErrorBody | undefined {
  const said = `${what}: ${status} ${text.slice(0, 500)}`;
  assert(status < 500, said);
  if (status < 400 || text === '') return undefined;
  const parsed = errorBody.safeParse(JSON.parse(text));
  assert(parsed.success, said);
  const body = parsed.data;
  assert(errorStatus[body.code] === status, said);
  assert.match(body.error, /\S/, said);
  return body;
}

/** The invalid fields according to a schema, and why they are. */
function judge(schema: z.ZodType, value: unknown, part: string): { wrong: string[]; reason: string } {
  const issues = schema.safeParse(value).error?.issues ?? [];
  const wrong = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0
      ? issue.keys
      : [String(issue.path[0] ?? part)],
  );
  return { wrong, reason: issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join() };
}

const refusedBefore = new Set<unknown>();
/** Whether this is the first call to refuse the value, or the first value that the call refuses for that reason. */
function isNews(id: string, value: unknown, reason: string): boolean {
  const before = refusedBefore.size;
  refusedBefore.add(value).add(`${id} ${reason}`);
  return refusedBefore.size > before;
}

/** Field names that a caller made up are returned as text, and shortened. */
const printable = (field: string) =>
  field
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\ufffd')
    .slice(0, 100);

/** Asserts that a validation error names one of the invalid fields, in the message and in the details. */
function expectNamed(body: ErrorBody | undefined, fields: string[], what: string): void {
  const said = `${what}: ${JSON.stringify(body)}`;
  assert(body?.code === 'INVALID_INPUT', said);
  const first = body.details![0]!;
  assert(fields.map(printable).includes(first.path.split('.')[0]!), `${said} names none of ${fields.join()}`);
  assert(body.error.startsWith(`${first.path}: `), said);
  assert(first.message.length > 3, said);
}

const withBody = everyCall.filter(([, route]) => route.body);
const withQuery = everyCall.filter(([, route]) => route.query);
const withParams = everyCall.filter(([, route]) => route.params);
/** The fields of a schema, also of one with a transform. */
const shapeOf = (schema: unknown) => {
  const { shape, in: taken } = schema as { shape?: Json; in?: { shape: Json } };
  return Object.keys(shape ?? taken!.shape);
};

type Mutation = { field: string; value: unknown; text: string; wrong: string[]; reason: string };

/** Every body that differs from a valid one in one place, and its fields that are invalid according to the contract. */
function mutations(id: string): Mutation[] {
  const good = bodies[id]!;
  const schema = contractBody(id);
  const fields = shapeOf(schema);
  const changed = fields.flatMap((field, i) =>
    [...nasty, ...(i === 0 ? [largest] : [])].map((value) => ({
      field,
      value,
      body: { ...good, [field]: value },
    })),
  );
  const without = fields.map((field) => ({
    field,
    value: undefined,
    body: Object.fromEntries(Object.entries(good).filter(([name]) => name !== field)),
  }));
  const extra = ['extra', 'id', 'toString', 'x'.repeat(500), '\u0007bell', '\u{d800}'].map((field) => ({
    field,
    value: 1,
    body: { ...good, [field]: 1 },
  }));
  return [...changed, ...without, ...extra].map(({ field, value, body }) => {
    const text = toText(body);
    return { field, value, text, ...judge(schema, JSON.parse(text), 'body') };
  });
}

function contractBody(id: string): z.ZodType {
  return everyCall.find(([name]) => name === id)![1].body!;
}

test('there is a good body for every call that takes one, and it is one', () => {
  expect(Object.keys(bodies).toSorted()).toEqual(withBody.map(([id]) => id).toSorted());
  for (const [id, route] of withBody) expect(route.body!.safeParse(bodies[id]).success, id).toBe(true);
});

describe('input that the contract refuses changes nothing, and is named', () => {
  let before: Record<string, string>;
  beforeAll(async () => {
    // Validations above are recorded after the response, and must not look like a change made here.
    await eventually(async () => {
      const { rows } = await server.pool.query('select 1 from validations');
      expect(rows).toHaveLength(2);
    });
    before = await fingerprint();
  });
  afterAll(async () => {
    expect(await fingerprint()).toEqual(before);
  });

  test.each(withBody)('%s: one field wrong, missing or too many', async (id, route) => {
    const refused = mutations(id).filter(({ wrong }) => wrong.length > 0);
    expect(refused.length).toBeGreaterThan(20);
    const news = refused.filter(({ value, reason }) => isNews(id, value, reason) || value === largest);
    await inLanes(news, async ({ field, text, wrong }) => {
      const what = `${id} ${field} ${text.slice(0, 200)}`;
      expectNamed(expectAnswer(await send(route.method, pathOf(route), text), what), wrong, what);
    });
  });

  test.each(withBody)('%s: a body that is no object of ours', async (id, route) => {
    const texts: [string, string][] = [
      ...[
        ...(route.bodyOptional ? [] : ['', 'null', '[]']),
        '0',
        '"x"',
        'true',
        '{}x',
        '{',
        '{"a":}',
        "{'a':1}",
        '\u0000',
        'undefined',
        '{"__proto__":{}}',
        '{"a":1}',
      ].map((text): [string, string] => [text, 'application/json']),
      ['{"a":1}', 'text/plain'],
      ['{"a":1}', 'application/x-www-form-urlencoded'],
      ['{"a":1}', 'multipart/form-data; boundary=x'],
      ['{"a":1}', 'application/octet-stream'],
      ['['.repeat(50_000), 'application/json'],
      [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'application/json'],
    ];
    await inLanes(texts, async ([text, type]) => {
      const reply = await send(route.method, pathOf(route), text, { 'content-type': type });
      const body = expectAnswer(reply, `${id} ${type} ${text.slice(0, 50)}`);
      // No field of the license update is required: an empty object is a valid body there.
      expect([400, 413, 415], `${id} ${type} ${text.slice(0, 50)}`).toContain(reply.status);
      if (reply.status === 400) expect(body!.details!.length).toBeGreaterThan(0);
    });
    const large = await send(route.method, pathOf(route), `{"name":"${'x'.repeat(1024 * 1024)}"}`);
    expect(large.status).toBe(413);
  });

  test.each(withQuery)('%s: one query parameter wrong, twice or too many', async (id, route) => {
    const fields = shapeOf(route.query);
    const texts = nastyText.filter((text) => text.length < 5000 && text.isWellFormed());
    const queries = [
      ...fields.flatMap((field) => texts.map((text) => [[field, text]])),
      ...fields.map((field) => [
        [field, '1'],
        [field, '2'],
      ]),
      ...['extra', '__proto__', 'constructor', 'limit[]', 'limit[$gt]', 'a'.repeat(2000)].map((field) => [
        [field, '1'],
      ]),
    ] as [string, string][][];
    await inLanes(queries, async (pairs) => {
      const query = new URLSearchParams(pairs).toString();
      const what = `${id}?${query}`.slice(0, 300);
      const values: Json = Object.create(null) as Json;
      for (const [key, value] of pairs) values[key] = key in values ? [values[key], value].flat() : value;
      const { wrong, reason } = judge(route.query!, values, 'query');
      if (wrong.length > 0 && !isNews(id, `?${pairs.map(([, text]) => text).join()}`, reason)) return;
      const sentBody = route.body ? toText(bodies[id]) : undefined;
      const body = expectAnswer(await send(route.method, `${pathOf(route)}?${query}`, sentBody), what);
      if (wrong.length > 0) expectNamed(body, wrong, what);
    });
  });

  test.each(everyCall.filter(([, route]) => !route.query && !route.bodyKind && route.method !== 'POST'))(
    '%s: takes no query',
    async (id, route) => {
      const path = route.path.replaceAll(/\{\w+\}/g, '01920000-0000-7000-8000-000000000000');
      const body = expectAnswer(
        await send(route.method, `${path}?force=true`, route.body ? toText(bodies[id]) : undefined),
        id,
      );
      expect(body, id).toMatchObject({
        code: 'INVALID_INPUT',
        // the placeholder may be an invalid parameter as well
        details: expect.arrayContaining([{ path: 'query', message: 'This call takes no query parameters' }]),
      });
    },
  );

  test.each(withParams)('%s: a path that leads astray', async (id, route) => {
    await inLanes(tricks, async (trick) => {
      const path = route.path.replaceAll(/\{\w+\}/g, trick);
      const reply = await send(route.method, path, route.body ? toText(bodies[id]) : undefined);
      expectAnswer(reply, `${id} ${path.slice(0, 200)}`);
      // `.` and `..` are not resolved: the response is a refusal, or a list that changes nothing.
      if (route.method !== 'GET') expect(reply.status, path).toBeGreaterThanOrEqual(400);
    });
  });
});

describe('input of any kind is no error of ours', () => {
  test.each(withBody)('%s: what the contract takes of it, too', async (id, route) => {
    const taken = mutations(id).filter(({ wrong }) => wrong.length === 0);
    await inLanes(taken, async ({ field, text }) => {
      const what = `${id} ${field} ${text.slice(0, 200)}`;
      expectAnswer(await send(route.method, pathOf(route), text), what);
    });
  });

  test.each(withBody)('%s: arbitrary JSON, and JSON close to its schema', async (id, route) => {
    const fields = shapeOf(route.body);
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: anySign }),
      fc.constantFrom(...Object.values(bodies[id]!)),
      fc.double(),
    );
    const near = fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), near), async (body) => {
        const text = toText(body);
        expectAnswer(await send(route.method, pathOf(route), text), `${id} ${text.slice(0, 300)}`);
      }),
      { numRuns: 60, seed: 10 },
    );
  });

  test('headers that carry what headers should not', async () => {
    await inLanes(oddHeaders, async (extra) => {
      const what = JSON.stringify(extra).slice(0, 200);
      expectAnswer(
        await send('PUT', `/api/customers/${params.id}`, toText(bodies['customers.update']), extra),
        what,
      );
      expectAnswer(await send('GET', '/api/v1/licenses', undefined, extra), what);
    });
  });

  test('and the server still answers', async () => {
    expect((await send('GET', '/readyz')).status).toBe(200);
  });
});
