import { expect, test } from 'vitest';
import { snippetsFor } from './api-key-snippets.ts';
import {
  makerNotice,
  requestsText,
  revokeQuestion,
  statusNote,
  statusOf,
  whyFinal,
  whyNotScope,
} from './api-key-labels.ts';

const now = new Date('2026-11-20T12:00:00Z');
const past = '2026-11-20T11:59:59.000Z';
const future = '2026-11-20T12:00:01.000Z';

test.each([
  ['Active', 'teal', undefined, { isActive: true, revokedAt: null, expiresAt: future }],
  ['Active', 'teal', undefined, { isActive: true, revokedAt: null, expiresAt: null }],
  ['Expired', 'amber', undefined, { isActive: true, revokedAt: null, expiresAt: past }],
  [
    'Revoked',
    'red',
    'Inactive, and can be activated again',
    { isActive: false, revokedAt: null, expiresAt: past },
  ],
  ['Revoked', 'red', 'Permanently revoked', { isActive: false, revokedAt: past, expiresAt: future }],
])('%s in %s, with the note %s: %o', (word, tone, note, state) => {
  expect(statusOf(state, now)).toEqual({ word, tone });
  expect(statusNote(state)).toBe(note);
  expect(whyFinal(state) === null).toBe(state.revokedAt === null);
});

test('counts and questions', () => {
  expect([0, 1, 12_345].map(requestsText)).toEqual(['0 requests', '1 request', '12,345 requests']);
});

test('the question before a revocation is that of the spec, with the use of the key below it', () => {
  const question = 'Are you sure you want to revoke the API key "CI"? This action cannot be undone.';
  const key = { name: 'CI', totalRequests: 1234, lastUsedAt: '2026-11-20T09:30:00.000Z' };
  const [first, empty, used, hit] = revokeQuestion(key, { validations: 41, machines: 2 }).split('\n');
  expect([first, empty]).toEqual([question, '']);
  expect(used).toMatch(/^Last used 20 November 2026 at .*, 1,234 requests in all\.$/);
  expect(hit).toBe(
    '2 machines validated with it in the last 24 hours (41 validations) and are refused from the next check.',
  );
  expect(revokeQuestion({ ...key, lastUsedAt: null }, undefined)).toBe(
    `${question}\n\nNever used.\nHow many machines use it could not be counted.`,
  );
});

test('a new key comes with what it can be used for', () => {
  const titles = (...scopes: Parameters<typeof snippetsFor>[0]) =>
    snippetsFor(scopes, 'https://lanyard.example').map(({ title }) => title);
  expect(titles('validate')).toEqual(['Validate a license']);
  expect(titles('updates')).toEqual(['electron-builder: publish']);
  expect(titles('releases')).toEqual(['electron-builder: publish', 'Publish a release from CI']);
  const [curl] = snippetsFor(['validate'], 'https://lanyard.example');
  expect(curl!.text).toContain('curl -s https://lanyard.example/api/licenses/validate');
});

test.each([
  [undefined, 'active', [], null],
  [undefined, 'deleted', ['licenses:update'], past],
  ['Creator deleted', 'deleted', ['licenses:update'], null],
  ['Creator inactive', 'inactive', [], null],
  ['Creator lost rights', 'active', ['releases:create', 'rollouts:create or rollouts:update'], null],
] as const)('%s for a creator who is %s and lacks %j', (badge, status, lacks, revokedAt) => {
  const maker = { userId: null, email: 'kim@lanyard.test', status, lacks: [...lacks] };
  const notice = makerNotice({ maker, revokedAt });
  expect(notice?.badge).toBe(badge);
  if (status === 'active' && notice)
    expect(notice.text).toBe(
      'This user no longer holds releases:create and rollouts:create or rollouts:update, which the scopes of the key need. The key is not affected.',
    );
});

test('a scope that needs permissions the user lacks names them', () => {
  const held = [{ resource: 'releases', action: 'create' }] as const;
  expect(whyNotScope('validate', held)).toBe('You lack licenses:update yourself');
  expect(whyNotScope('releases', held)).toBe('You lack rollouts:create or rollouts:update yourself');
  expect(whyNotScope('releases', [...held, { resource: 'rollouts', action: 'update' }])).toBeNull();
});
