import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scopeNeeds } from './api-keys.ts';
import { id, instant, line, paging, requiredLine, text, wholeNumber } from './common.ts';
import { countries, countryName, isCountryCode } from './countries.ts';
import { errorStatus } from './errors.ts';
import { licenseTab } from './license-state.ts';
import { moduleLabel, normalizeModuleIds } from './module-ids.ts';
import { hasPermission, permit, resourceActions, roleMatrix, roleNames } from './permissions.ts';
import { needsOf } from './route.ts';
import { isStorableText } from './text.ts';
import { anySign } from '../tests/any-sign.ts';
import { everyCall } from '../tests/every-call.ts';

describe('every call of the contract', () => {
  test('has a method and path of its own', () => {
    const addresses = everyCall.map(
      ([, route]) => `${route.method} ${route.path.replaceAll(/\{\w+\}/g, '{}')}`,
    );
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  test.each(everyCall)('%s describes exactly the parameters of its path', (_, route) => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const described = route.params instanceof z.ZodObject ? Object.keys(route.params.shape) : [];
    expect(described).toEqual(inPath);
  });

  test.each(everyCall)(
    '%s asks for a permission that exists, and a GET changes nothing',
    (_, { access, method, body }) => {
      for (const { resource, action } of needsOf(access).flat()) {
        expect(resourceActions[resource]).toContain(action);
      }
      if (method === 'GET') expect(body).toBeUndefined();
    },
  );

  test.each(everyCall)('%s refuses fields that it does not know', (_, { body, query, apiKeyInQuery }) => {
    // updaters put into the address what they like
    for (const schema of [body, apiKeyInQuery ? undefined : query]) {
      if (!schema) continue;
      const issues = schema.safeParse({ surprise: 1 }).error?.issues ?? [];
      expect(issues.map((issue) => issue.code)).toContain('unrecognized_keys');
    }
  });

  test.each(everyCall.filter(([, { apiKeyInQuery }]) => apiKeyInQuery))(
    '%s names the credentials that its address may have',
    (_, { query = z.object() }) => {
      const { properties } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
      expect(Object.keys(properties ?? {})).toEqual(expect.arrayContaining(['key', 'token']));
    },
  );

  test.each(everyCall)('%s limits every list that it takes', (_, { body, query }) => {
    const unlimited: unknown[] = [];
    for (const schema of [body, query])
      for (const io of ['input', 'output'] as const)
        JSON.stringify(
          schema && z.toJSONSchema(schema, { io, unrepresentable: 'any' }),
          (_name, part: { type?: string; maxItems?: number } | null) => {
            if (part?.type === 'array' && part.maxItems === undefined) unlimited.push(part);
            return part;
          },
        );
    expect(unlimited).toEqual([]);
  });

  test.each(everyCall)('%s names errors of the closed list', (_, { errors = [] }) => {
    for (const code of errors) expect(errorStatus).toHaveProperty(code);
  });
});

describe('what is wrong with an input is said in plain words', () => {
  const wrong = [undefined, null, '', 'x', '1e3', -1, 1.5, 1e21, true, [], {}, [null], 'x'.repeat(30_000)];
  const ofTheLibrary =
    /^invalid (?!semantic version)|too (big|small)|expected|received|unrecognized|undefined|required$/i;

  test.each(everyCall)('%s', (_, { body, params, query }) => {
    for (const schema of [body, params, query]) {
      const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
      const inputs = [...wrong, ...fields.flatMap((field) => wrong.map((value) => ({ [field]: value })))];
      for (const { message } of inputs.flatMap((input) => schema?.safeParse(input).error?.issues ?? [])) {
        expect(message.replace(/^[A-Z][A-Za-z0-9 ]* is required$/, '')).not.toMatch(ofTheLibrary);
      }
    }
  });

  test.each([
    ['name', z.object({ name: z.string().min(1) }), 'Name is required'],
    ['maxActivations', z.object({ maxActivations: z.number() }), 'Max activations is required'],
    ['customerId', z.object({ customerId: z.string().min(1) }), 'Customer ID is required'],
    ['user_id', z.object({ user_id: z.enum(['a', 'b']) }), 'User ID is required'],
    ['fileUrl', z.object({ fileUrl: z.url() }), 'File URL is required'],
    ['licenseId', z.object({ licenseId: id }), 'License ID is required'],
  ])('an empty or missing %s is named', (field, schema, message) => {
    const said = (input: object) => schema.safeParse(input).error?.issues[0]?.message;
    expect([said({}), said({ [field]: '' })]).toEqual([message, message]);
  });

  test('other values say what they must be', () => {
    const said = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;
    expect(said(z.string(), 5)).toBe('Must be text');
    expect(said(z.number(), '1e3')).toBe('Must be a number, written in digits');
    expect(said(z.int(), 1.5)).toBe('Must be a whole number');
    expect(said(z.number().max(5), 6)).toBe('Must be at most 5');
    expect(said(z.string().max(5), '123456')).toBe('Must be at most 5 characters');
    expect(said(z.number().max(1_000_000), 1_000_001)).toBe('Must be at most 1,000,000');
    expect(said(wholeNumber(0, 5000), '5001')).toBe('Must be at most 5,000');
    expect(said(z.string().max(2000), 'x'.repeat(2001))).toBe('Must be at most 2,000 characters');
    expect(said(z.array(z.string()).min(1), [])).toBe('Must have at least 1 entry');
    expect(said(z.enum(['a', 'b']), 'c')).toBe('Must be one of a, b');
    expect(said(z.email(), 'x')).toBe('Must be an email address');
  });
});

describe('the calls of the spec are all there', () => {
  test.each([
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/logout',
    'POST /api/v1/auth/refresh',
    'GET /api/v1/auth/me',
    'GET /api/customers',
    'GET /api/customers/trash',
    'GET /api/customers/{id}',
    'POST /api/customers',
    'PUT /api/customers/{id}',
    'PATCH /api/customers/{id}/soft-delete',
    'PATCH /api/customers/{id}/restore',
    'DELETE /api/customers/{id}',
    'GET /api/customers/{id}/check-deletable',
    'GET /api/v1/licenses',
    'GET /api/v1/licenses/{id}',
    'POST /api/v1/licenses',
    'PATCH /api/v1/licenses/{id}',
    'DELETE /api/v1/licenses/{id}',
    'PATCH /api/v1/licenses/{id}/revoke',
    'POST /api/v1/licenses/{id}/reactivate',
    'GET /api/modules',
    'GET /api/licenses/{licenseKey}/activations',
    'DELETE /api/licenses/activations/{activationId}',
    'POST /api/licenses/validate',
    'POST /api/licenses/deactivate',
    'GET /api/v1/keys',
    'GET /api/analytics/health',
    'GET /api/analytics/trends',
    'GET /api/analytics/customers',
    'GET /api/rbac/roles',
    'GET /api/rbac/permissions',
    'GET /api/rbac/users/{userId}/roles',
    'POST /api/rbac/users/{userId}/roles/{roleId}',
    'DELETE /api/rbac/users/{userId}/roles/{roleId}',
    'GET /api/users',
    'POST /api/users',
    'PATCH /api/users/{id}',
    'POST /api/users/{id}/deactivate',
    'POST /api/users/{id}/reactivate',
    'DELETE /api/users/{id}',
    'POST /api/users/{id}/reset-password',
    'GET /api/audit',
    'GET /api/audit/export',
    'GET /api/audit/stats',
    'GET /api/audit/config',
    'PUT /api/audit/config/{key}',
    'POST /api/audit/cleanup',
    'GET /api/v1/api-keys',
    'POST /api/v1/api-keys',
    'PATCH /api/v1/api-keys/{keyId}',
    'DELETE /api/v1/api-keys/{keyId}',
  ])('%s', (call) => {
    expect(everyCall.map(([, route]) => `${route.method} ${route.path}`)).toContain(call);
  });
});

test('a scope of an API key needs of its maker whatever the calls that it opens ask of staff', () => {
  for (const [name, { access }] of everyCall) {
    if (access.kind !== 'staff' || !access.apiKey) continue;
    expect(scopeNeeds[access.apiKey].flat(), name).toEqual(expect.arrayContaining(access.needs.flat()));
  }
});

describe('the roles', () => {
  test('hold only rights that exist', () => {
    for (const role of roleNames) {
      for (const { resource, action } of roleMatrix[role])
        expect(resourceActions[resource], role).toContain(action);
    }
  });

  test('hold what the design says', () => {
    const can = (role: (typeof roleNames)[number], right: string) => {
      const [resource, action] = right.split(':') as ['users', 'read'];
      return hasPermission(roleMatrix[role], permit(resource, action));
    };
    expect(can('super_admin', 'users:delete')).toBe(true);
    expect(can('admin', 'users:delete')).toBe(false);
    expect(can('admin', 'users:update')).toBe(true);
    expect(can('license_manager', 'licenses:delete')).toBe(true);
    expect(can('license_manager', 'customers:create')).toBe(false);
    expect(can('binary_manager', 'customers:read')).toBe(false);
    expect(can('support_agent', 'licenses:update')).toBe(true);
    expect(can('support_agent', 'licenses:create')).toBe(false);
    expect(can('support_agent', 'audit:read')).toBe(true);
    expect(can('viewer', 'licenses:read')).toBe(true);
    expect(roleMatrix.viewer.every((permission) => permission.action === 'read')).toBe(true);
    expect(roleMatrix.service_account).toEqual([]);
  });
});

describe('text', () => {
  test('takes only what PostgreSQL and UTF-8 can hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: anySign, maxLength: 30 }), (value) => {
        const parsed = text(30).safeParse(value);
        if (!parsed.success) return;
        expect(parsed.data).toBe(value.trim());
        expect(new TextDecoder().decode(new TextEncoder().encode(parsed.data))).toBe(parsed.data);
        expect(parsed.data).not.toContain('\0');
      }),
      { seed: 5, numRuns: 2000 },
    );
    expect(isStorableText('line\nand\ttab 👍🏽')).toBe(true);
    for (const wrong of ['\0', '\u{d800}', '\u{dc00}x', '\u001b[31m', '\u007f', 'a\u0085b'])
      expect(isStorableText(wrong)).toBe(false);
  });

  test.each(['', '\u200b', '\u034f', '\u2800', '\uff9e'])(
    'has no run of marks that takes long to normalize, even with %j between them',
    (between) => {
      const marks = ['\u0301', '\u0327'].join(between);
      expect(isStorableText(`a${marks.repeat(between ? 7 : 15)}b`.repeat(3))).toBe(true);
      expect(isStorableText(`a${marks.repeat(16)}b`)).toBe(false);
    },
  );

  test.each([
    ['St. Mary', 'St.\u00a0Mary'],
    ['St. Mary', '\ufeffSt. \r\n\tMary \u200b'],
    ['Clinique Andr\u00e9', 'Clinique Andre\u0301'],
    ['fdp.exe', '\u202efdp.exe'],
    ['Acme', 'Ac\u00adme\u034f\u3164\ufe0f\u2800'],
    ['نمی\u200cدانم', 'نمی\u200cدانم'],
  ])('of one line is %j for %j, which looks the same', (same, typed) => {
    expect(line(200).parse(typed)).toBe(same);
  });

  test.each(['\u00ad', '\u2800', '\u3164', '\u200d\u200c', ' \ufe0f ', '\u0301\u0301'])(
    'that shows nothing (%j) is no name',
    (typed) => expect(requiredLine(200).safeParse(typed).success).toBe(false),
  );
});

test('an id in upper case is the same id', () => {
  expect(id.parse('0190D2E5-7C1B-7A3E-8F00-00000000ABCD')).toBe('0190d2e5-7c1b-7a3e-8f00-00000000abcd');
});

describe('an instant', () => {
  test('comes out in UTC with milliseconds, the same moment', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1970-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }),
        fc.integer({ min: -23, max: 23 }),
        (date, offset) => {
          const local = new Date(date.getTime() + offset * 3_600_000).toISOString().slice(0, -1);
          const zone = `${offset < 0 ? '-' : '+'}${String(Math.abs(offset)).padStart(2, '0')}:00`;
          expect(instant.parse(local + zone)).toBe(date.toISOString());
        },
      ),
      { seed: 6 },
    );
  });

  test.each([
    '2026-11-20',
    '2026-11-20T09:30:00',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '0000-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '10000-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
    'now',
    '',
    '1763631000000',
  ])('is not %j', (value) => {
    expect(instant.safeParse(value).success).toBe(false);
  });

  test('is 2028-02-29, which exists', () => {
    expect(instant.parse('2028-02-29T00:00:00Z')).toBe('2028-02-29T00:00:00.000Z');
  });
});

test('ids and pages are read strictly', () => {
  const page = z.object(paging);
  expect(page.parse({ limit: '50', offset: '0' })).toEqual({ limit: 50, offset: 0 });
  for (const limit of ['', ' ', '0x10', '1e1', '501', '-1', 'Infinity', 'NaN', '9007199254740993']) {
    expect(page.safeParse({ limit }).success, limit).toBe(false);
  }
  expect(id.safeParse('01920000-0000-7000-8000-000000000000').success).toBe(true);
  for (const wrong of ['', 'x', '01920000-0000-7000-8000-00000000000g', "' or 1=1"])
    expect(id.safeParse(wrong).success).toBe(false);
});

describe('moduleIds', () => {
  test('arrive in three shapes and become one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }).filter((s) => !s.trimStart().startsWith('['))),
        (ids) => {
          expect(normalizeModuleIds(ids)).toEqual(ids);
          expect(normalizeModuleIds([JSON.stringify(ids)])).toEqual(ids);
          expect(normalizeModuleIds(JSON.stringify(ids))).toEqual(ids);
        },
      ),
      { seed: 8 },
    );
  });

  test.each([null, undefined, 7, {}, 'mod_x', '[broken', '{"a":1}', ['[broken']].map((value) => [value]))(
    'that are none of these (%j) stay as they came',
    (value) => {
      expect(normalizeModuleIds(value)).toBe(value);
    },
  );
});

test.each([
  ['mod_lung_nodule', 'Lung Nodule'],
  ['copd', 'Copd'],
  ['mod_MRI_scan', 'Mri Scan'],
  ['mod_mod_x', 'Mod X'],
  ['mod_', ''],
  ['a__b', 'A B'],
])('the module %s is shown as %j', (moduleId, label) => {
  expect(moduleLabel(moduleId)).toBe(label);
});

test('a license stands in one tab at a time, to the millisecond', () => {
  const validUntil = '2026-11-20T09:30:00.000Z';
  const tab = (status: 'active' | 'revoked', offset: number) =>
    licenseTab({ status, validUntil }, new Date(Date.parse(validUntil) + offset));
  expect([tab('active', -1), tab('active', 0), tab('active', 1)]).toEqual(['active', 'active', 'expired']);
  expect([tab('revoked', -1), tab('revoked', 1)]).toEqual(['revoked', 'revoked']);
});

test('the countries are the members and observers of the United Nations, Taiwan and Kosovo', () => {
  expect(countries).toHaveLength(197);
  expect(new Set(countries.map((country) => country.name)).size).toBe(197);
  const called = countries.flatMap(({ name, also }) => [...new Set([name, ...also])]);
  expect(new Set(called).size, 'names of one country alone').toBe(called.length);
  expect(countryName('XK')).toBe('Kosovo');
  expect(countryName('DE')).toBe('Germany');
  for (const code of ['XX', 'EU', 'HK', 'GL', 'de', '']) expect(isCountryCode(code)).toBe(false);
});
