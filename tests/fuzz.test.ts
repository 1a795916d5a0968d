import fc from 'fast-check';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { errorBody, errorStatus, type ErrorBody } from '../contract/errors.ts';
import { contract } from '../contract/index.ts';
import type { Route } from '../contract/route.ts';
import {
  deactivate,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeMachineKey,
  makeRelease,
  signedEnrollment,
  softDelete,
  validateOn,
} from './factories.ts';
import { eventually, password, startTestServer } from './harness.ts';
import { offlineMachine } from './offline-machine.ts';

type Json = Record<string, unknown>;
type Reply = { status: number; text: string };

const routes = Object.entries(contract).flatMap(([feature, calls]) =>
  Object.entries(calls as Record<string, Route>).map(([name, route]): [string, Route] => [
    `${feature}.${name}`,
    route,
  ]),
);

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
const api = server.api(admin);
const { customerId } = await makeCustomer(api);
const license = await makeLicense(api, { customerId });
const { activation } = await validateOn(api, license, 'machine');
await deactivate(api, (await validateOn(api, license, 'another')).activation!);
await softDelete(api, await makeCustomer(api));
const { id: keyId } = await makeApiKey(api);
const { id: releaseId } = await makeRelease(server);
const upload = { fileName: 'App.exe', fileSize: 1000, version: '9.0.0' };
const { uploadId, fileKey } = await api.ok(contract.uploads.prepare, { body: upload });
/** Valid parameters, so that the fuzzed input is the only error. */
const params: Record<string, string> = {
  id: customerId,
  licenseKey: license.licenseKey,
  activationId: activation!.activationId,
  keyId,
  key: 'retentionDays',
  userId: admin.userId,
  roleId: 'viewer',
  sessionId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c12',
  releaseId,
  platform: 'win32',
  architecture: 'x64',
  version: '1.0.0',
  file: 'latest.yml',
  tag: 'clinics',
  uploadId,
  requestId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c13',
  channel: 'stable',
  index: '0',
  fileName: 'App.exe',
};
const { licenseKey } = license;
const updatedAt = '2026-01-01T00:00:00Z';
const customer = {
  name: 'Clinic',
  contactName: 'Ada',
  email: 'ada@clinic.example',
  phone: '1',
  country: 'DE',
};
const policy = {
  channel: 'beta',
  pin: '4.2.',
  pinForSecurity: true,
  deferDays: 7,
  windows: [{ zone: 'Europe/Berlin', weekdays: ['fri', 'sat'], from: '22:00', to: '05:00' }],
  updatesUntil: '2026-12-31',
};
const trial = {
  customerId,
  type: 'trial',
  validFrom: '2026-01-01T00:00:00Z',
  validUntil: '2027-01-01T00:00:00Z',
  maxActivations: 3,
  moduleIds: ['mod_copd'],
};
const apiKey = {
  name: 'Key',
  expiresAt: '2027-01-01T00:00:00Z',
  rateLimit: 10,
  ipWhitelist: ['10.0.0.0/8'],
};
/** A valid body for each call. */
const bodies: Record<string, Json> = {
  'session.login': { email: admin.email, password },
  'customers.create': customer,
  'customers.update': { ...customer, updatedAt },
  'policies.putOfCustomer': { ...policy, tags: ['clinics'], updatedAt },
  'policies.impactOnCustomer': { ...policy, tags: ['clinics'] },
  'policies.putOfTag': { ...policy, updatedAt },
  'policies.impactOnTag': { ...policy, tag: 'clinics' },
  'licenses.create': trial,
  'licenses.update': { ...trial, updatedAt },
  'imports.checkCustomers': { csv: 'Company Name,Country\nClinic,DE', skipExisting: false },
  'imports.customers': { csv: 'Company Name,Country\nClinic,DE', skipExisting: false },
  'imports.checkLicenses': { csv: 'Customer\nNobody', createCustomers: false },
  'imports.licenses': { csv: 'Customer\nNobody', createCustomers: false },
  'bulkLicenses.preview': {
    ids: [license.licenseId],
    change: { kind: 'modules', add: ['mod_copd'], remove: ['mod_diabetes'] },
  },
  'bulkLicenses.change': {
    licenses: [
      {
        licenseId: license.licenseId,
        updatedAt,
        validUntil: '2027-01-01T00:00:00Z',
        moduleIds: ['mod_copd'],
      },
    ],
  },
  'licenses.transfer': { customerId, updatedAt },
  'activations.deactivate': { machineId: 'machine' },
  'offline.issue': { request: offlineMachine('machine').request(license), days: 30 },
  'offline.giveBack': { receipt: offlineMachine('machine').receipt(license, customerId) },
  'validation.validate': {
    licenseKey,
    machineId: 'machine',
    nonce: 'n',
    hostname: 'h',
    platform: 'p',
    architecture: 'a',
    osVersion: 'o',
    appVersion: 'v',
  },
  'approvals.ask': {
    call: 'PATCH /api/v1/updates/admin/releases/{releaseId}',
    params: { releaseId },
    body: { isDraft: false },
    seen: updatedAt,
  },
  'approvals.approve': { currentPassword: password },
  'approvals.decline': { reason: 'Not on Friday' },
  'approvals.setChannel': { required: true },
  'credentials.enroll': {
    ...signedEnrollment(licenseKey, 'machine', makeMachineKey()),
    hostname: 'h',
    platform: 'p',
    architecture: 'a',
    osVersion: 'o',
    appVersion: 'v',
  },
  'validation.releaseSeat': { licenseKey, machineId: 'machine' },
  'updateEvents.report': {
    events: [
      {
        eventId: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c11',
        machineId: 'machine',
        eventType: 'install_error',
        timestamp: '2026-11-20T09:00:00Z',
        platform: 'win32',
        architecture: 'x64',
        channel: 'stable',
        fromVersion: '1.0.0',
        toVersion: '1.1.0',
        errorCode: 'EACCES',
        errorMessage: 'no',
      },
    ],
  },
  'apiKeys.create': apiKey,
  'audit.setConfig': { value: 400 },
  'views.create': { list: 'licenses', name: 'Full', query: 'seats=full', shared: true },
  'views.update': { name: 'Fuller', query: 'seats=high', shared: false, updatedAt },
  'clock.confirm': { now: '2026-11-01T08:00:00.000Z' },
  'account.changePassword': {
    currentPassword: 'not it',
    newPassword: 'a new password',
    confirmPassword: 'a new password',
  },
  'account.setFirstScreen': { screen: 'today' },
  'account.enrollSecondFactor': { currentPassword: 'not it' },
  'account.confirmSecondFactor': { code: '123456' },
  'account.removeSecondFactor': { currentPassword: 'not it' },
  'users.create': { email: 'new@lanyard.test', name: 'New', password: 'a new password', role: 'viewer' },
  'users.update': {
    email: 'new@lanyard.test',
    name: 'New',
    role: 'viewer',
    updatedAt,
  },
  'users.resetPassword': { newPassword: 'a new password', confirmPassword: 'a new password' },
  'users.resetSecondFactor': { currentPassword: 'a password' },
  'rbac.createRole': { roleId: 'made_here', description: 'Made here', copyFrom: 'viewer' },
  'rbac.updateRole': {
    description: 'read-only access for stakeholders',
    requiresSecondFactor: false,
    permissions: [{ resource: 'licenses', action: 'read' }],
  },
  'apiKeys.update': { ...apiKey, isActive: true, scopes: ['validate'] },
  'uploads.prepare': {
    fileName: 'App.exe',
    fileSize: 1000,
    version: '9.0.1',
    channel: 'beta',
    platform: 'win32',
    architecture: 'x64',
  },
  'uploads.complete': {
    uploadId,
    fileKey,
    totalChunks: 1,
    sha512: 'ab'.repeat(64),
    version: '9.0.0',
    channel: 'beta',
    platform: 'win32',
    architecture: 'x64',
    releaseNotes: 'New',
    minimumAppVersion: '0.9.0',
    security: true,
    minimumSupportedVersion: '0.9.0',
    isMandatory: false,
    isDraft: true,
    rolloutPercentage: 100,
    acceptableFailures: 2.5,
    rolloutPlan: [{ percentage: 5, hours: null }],
    startsAt: '2026-11-21T08:00:00Z',
  },
  'releases.createFromUrl': {
    version: '1.2.3',
    channel: 'beta',
    platform: 'darwin',
    architecture: 'arm64',
    releaseNotes: 'Notes',
    minimumAppVersion: '1.0.0',
    security: true,
    minimumSupportedVersion: '0.9.0',
    isMandatory: true,
    isDraft: false,
    rolloutPercentage: 100,
    acceptableFailures: 2.5,
    rolloutPlan: [{ percentage: 5, hours: null }],
    startsAt: '2026-11-21T08:00:00Z',
    fileUrl: 'https://files.example/App.dmg',
    fileSize: 1000,
    sha512: `${'A'.repeat(86)}==`,
  },
  'releases.update': {
    channel: 'beta',
    isActive: true,
    isDraft: false,
    isMandatory: true,
    minimumAppVersion: '1.0.0',
    security: true,
    minimumSupportedVersion: '0.9.0',
    releaseNotes: 'Notes',
    acceptableFailures: 2.5,
    rolloutPlan: [{ percentage: 5, hours: null }],
    startsAt: '2026-11-21T08:00:00Z',
    updatedAt,
  },
  'rollouts.plan': {
    plan: [
      { percentage: 1, hours: 24 },
      { percentage: 100, hours: null },
    ],
    startsAt: '2026-11-21T08:00:00Z',
  },
  'rollouts.widen': { percentage: 10 },
  'rollouts.setDefault': { plan: [{ percentage: 100, hours: null }] },
  'releases.pause': { reason: 'Two sites report crashes' },
  'releases.rollout': { percentage: 5 },
  'releases.withdraw': { reason: 'Broken' },
  'releases.softDelete': { reason: 'Broken' },
  'releases.restore': { reason: 'Needed' },
  'releases.deletePermanently': { confirmation: 'PERMANENTLY DELETE', reason: 'Broken' },
};
afterAll(() => server.close());

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

const pathOf = (route: Route, given: Record<string, string> = params) =>
  route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name]!));

/** JSON text with the numbers in `raw` inserted literally, since JavaScript cannot represent them. */
const toText = (value: unknown) => JSON.stringify(value).replaceAll(/"@raw (.*?)@"/g, '$1');
const raw = (number: string) => `@raw ${number}@`;

// --- judging --------------------------------------------------------------------------------------------------

/** Every table whose rows invalid input must not change; the others record the calls themselves. */
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

/** Asserts that a response is not a server error and, if it is a refusal, has the error format. */
function expectAnswer({ status, text }: Reply, what: string): ErrorBody | undefined {
  expect(status, `${what}: ${text.slice(0, 500)}`).toBeLessThan(500);
  if (status < 400 || text === '') return undefined;
  const parsed = errorBody.safeParse(JSON.parse(text));
  expect(parsed.success, `${what}: ${text.slice(0, 500)}`).toBe(true);
  const body = parsed.data!;
  expect(errorStatus[body.code], what).toBe(status);
  expect(body.error, what).toMatch(/\S/);
  return body;
}

/** The invalid fields according to a schema. */
function wrongFields(schema: z.ZodType, value: unknown, part: string): string[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0] ?? part)],
  );
}

/** Field names that a caller made up are returned as text, and shortened. */
const printable = (field: string) =>
  field
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\ufffd')
    .slice(0, 100);

/** Asserts that a validation error names one of the invalid fields, in the message and in the details. */
function expectNamed(body: ErrorBody | undefined, fields: string[], what: string): void {
  expect(body?.code, what).toBe('INVALID_INPUT');
  const first = body!.details![0]!;
  expect(fields.map(printable), what).toContain(first.path.split('.')[0]);
  expect(body!.error.startsWith(`${first.path}: `), what).toBe(true);
  expect(first.message.length, what).toBeGreaterThan(3);
}

/** Runs many, a few in parallel. */
async function each<T>(all: T[], work: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all];
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
    }),
  );
}

// --- what is sent ---------------------------------------------------------------------------------------------

const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

const nastyText = [
  '',
  ' ',
  'a\0b',
  '\0',
  'x\u{d800}',
  '\u{dc00}x',
  '\u001b[2J',
  '\u202ex',
  '👩‍👩‍👧',
  'ﷺ'.repeat(200),
  'e\u0301'.repeat(300),
  "'; drop table customers; --",
  '%',
  '\\',
  '${7*7}',
  'true',
  'null',
  'NaN',
  'Infinity',
  '-1',
  '1e309',
  '2147483648',
  '9223372036854775808',
  '0000-01-01T00:00:00Z',
  '10000-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00.123456789Z',
  '2026-12-31T23:59:60Z',
  '[]',
  '["',
  '{"a":1}',
  '__proto__',
  'constructor',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '01920000-0000-7000-8000-00000000000',
];

/** The maximum size of a body. */
const largest = 'x'.repeat(1024 * 1023);

const nasty: unknown[] = [
  ...nastyText,
  null,
  true,
  false,
  0,
  raw('-0'),
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  raw('9223372036854775808'),
  raw('1e309'),
  raw('-1e309'),
  raw('1e-400'),
  raw('123456789012345678901234567890.5'),
  [],
  [null],
  [[]],
  ['\0'],
  Array.from({ length: 5000 }, () => 'x'),
  {},
  { length: 3 },
  { toString: 1 },
  { valueOf: 1 },
  deep(2000),
];

const withBody = routes.filter(([, route]) => route.body);
const withQuery = routes.filter(([, route]) => route.query);
const withParams = routes.filter(([, route]) => route.params);
/** The fields of a schema, also of one with a transform. */
const shapeOf = (schema: unknown) => {
  const { shape, in: taken } = schema as { shape?: Json; in?: { shape: Json } };
  return Object.keys(shape ?? taken!.shape);
};

/** Every body that differs from a valid one in one place. */
function mutations(id: string): { field: string; body: Json }[] {
  const good = bodies[id]!;
  const fields = shapeOf(contractBody(id));
  const changed = fields.flatMap((field, i) =>
    [...nasty, ...(i === 0 ? [largest] : [])].map((value) => ({ field, body: { ...good, [field]: value } })),
  );
  const without = fields.map((field) => ({
    field,
    body: Object.fromEntries(Object.entries(good).filter(([name]) => name !== field)),
  }));
  const extra = ['extra', 'id', 'toString', 'x'.repeat(500), '\u0007bell', '\u{d800}'].map((field) => ({
    field,
    body: { ...good, [field]: 1 },
  }));
  return [...changed, ...without, ...extra];
}

function contractBody(id: string): z.ZodType {
  return routes.find(([name]) => name === id)![1].body!;
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
    const wrong = mutations(id).filter(
      ({ body }) => wrongFields(route.body!, JSON.parse(toText(body)), 'body').length > 0,
    );
    expect(wrong.length).toBeGreaterThan(20);
    await each(wrong, async ({ field, body }) => {
      const text = toText(body);
      const what = `${id} ${field} ${text.slice(0, 200)}`;
      const answer = expectAnswer(await send(route.method, pathOf(route), text), what);
      expectNamed(answer, wrongFields(route.body!, JSON.parse(text), 'body'), what);
    });
  });

  test.each(withBody)('%s: a body that is no object of ours', async (id, route) => {
    const texts: [string, string][] = [
      ...[
        'null',
        '[]',
        '0',
        '"x"',
        'true',
        '{}x',
        '{',
        '',
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
    await each(texts, async ([text, type]) => {
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
    await each(queries, async (pairs) => {
      const query = new URLSearchParams(pairs).toString();
      const what = `${id}?${query}`.slice(0, 300);
      const values: Json = Object.create(null) as Json;
      for (const [key, value] of pairs) values[key] = key in values ? [values[key], value].flat() : value;
      const wrong = wrongFields(route.query!, values, 'query');
      const sentBody = route.body ? toText(bodies[id]) : undefined;
      const body = expectAnswer(await send(route.method, `${pathOf(route)}?${query}`, sentBody), what);
      if (wrong.length > 0) expectNamed(body, wrong, what);
    });
  });

  test.each(routes.filter(([, route]) => !route.query && !route.bodyKind && route.method !== 'POST'))(
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

  const tricks = [
    '..',
    '.',
    '%2e%2e',
    '..%2f',
    '..%2f..%2f..%2fetc%2fpasswd',
    '..%5c..%5c',
    '%00',
    'x%00',
    '%ff',
    '%c0%ae%c0%ae',
    '%',
    '%zz',
    '%0d%0aSet-Cookie:%20a=b',
    '%f0%9f%98%80',
    '%ed%a0%80',
    "'",
    "1'%20or%20'1'='1",
    '0',
    '-1',
    '2147483648',
    '9223372036854775808',
    '1e309',
    'null',
    'undefined',
    '[object%20Object]',
    '__proto__',
    'constructor',
    '%7Bid%7D',
    'x'.repeat(101),
    'x'.repeat(3000),
    '00000000-0000-0000-0000-000000000000x',
    '{}',
    '*',
    ';',
    ':id',
  ];
  test.each(withParams)('%s: a path that leads astray', async (id, route) => {
    await each(tricks, async (trick) => {
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
    const taken = mutations(id).filter(
      ({ body }) => wrongFields(route.body!, JSON.parse(toText(body)), 'body').length === 0,
    );
    await each(taken, async ({ field, body }) => {
      expectAnswer(
        await send(route.method, pathOf(route), toText(body)),
        `${id} ${field} ${toText(body).slice(0, 200)}`,
      );
    });
  });

  test.each(withBody)('%s: arbitrary JSON, and JSON close to its schema', async (id, route) => {
    const fields = shapeOf(route.body);
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: 'binary' }),
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
    const latin = Buffer.from('naïve').toString('latin1');
    const odd: Record<string, string>[] = [
      { 'user-agent': `x${'y'.repeat(6000)}` },
      { 'user-agent': latin },
      { 'idempotency-key': latin },
      { 'idempotency-key': 'x'.repeat(300) },
      { 'if-match': '"' },
      { 'if-match': 'W/"x", "y"' },
      { 'if-match': latin },
      { authorization: 'Bearer' },
      { authorization: 'Bearer \t' },
      { authorization: `Bearer ${'x'.repeat(6000)}` },
      { authorization: 'Basic Og==' },
      { cookie: '=; ;;lanyard_session' },
      { cookie: 'lanyard_session=%00' },
      { cookie: 'lanyard_session=%ff' },
      { cookie: `lanyard_session=${latin}` },
      { 'x-api-key': latin },
      { 'x-api-key': 'lyd_' },
      { 'x-machine-token': latin },
      { 'x-machine-token': 'lym_' },
      { 'x-machine-token': `lym_${'a'.repeat(6000)}` },
      { 'x-machine-token': '', 'x-machine-sequence': '-1' },
      { 'x-forwarded-for': 'not an address, 1.2.3.4' },
      { 'x-forwarded-for': `${'1.1.1.1,'.repeat(500)}x` },
      { 'sec-fetch-site': latin },
      { origin: 'null' },
      { 'content-type': 'application/json; charset=utf-32' },
      { 'content-type': ';' },
      { 'x-request-id': 'mine' },
      { accept: 'text/plain' },
      { 'accept-encoding': 'br;q=x' },
      { range: 'bytes=0-' },
    ];
    await each(odd, async (extra) => {
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
