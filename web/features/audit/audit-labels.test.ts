import { expect, test } from 'vitest';
import { eventTone, rolesText, shortId } from './audit-labels.ts';

test('roles are shown without underscores', () => {
  expect(rolesText('super_admin')).toBe('Super Admin');
  expect(rolesText('license_manager, viewer')).toBe('License Manager, Viewer');
});

test('only long ids are cut', () => {
  expect(shortId('01920000-0000-7000-8000-000000000000')).toBe('01920000-0000…');
  expect(shortId('super_admin')).toBe('super_admin');
  expect(shortId('license_manager')).toBe('license_manager');
});

test.each([
  ['customer.created', true, 'teal'],
  ['upload.begun', true, 'teal'],
  ['customer.soft_deleted', true, 'orange'],
  ['license.revoked', true, 'orange'],
  ['license.updated', true, 'neutral'],
  ['session.login_failed', false, 'red'],
] as const)('%s (%s) is %s', (event, success, tone) => {
  expect(eventTone(event, success)).toBe(tone);
});
