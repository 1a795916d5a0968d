import { expect, test } from 'vitest';
import { fullTime } from '../../ui/time.ts';
import { valueWord } from './field-words.ts';

test.each([
  ['license', 'moduleIds', ['mod_lung_nodule', 'mod_copd'], 'Lung Nodule, Copd'],
  ['license', 'type', 'trial', 'Trial'],
  ['license', 'validFrom', '2026-11-26T00:00:00.000Z', '26 Nov 2026'],
  ['user', 'roles', ['super_admin', 'viewer'], 'Super Admin, Viewer'],
  ['role', 'name', 'on_call', 'On Call'],
  ['role', 'permissions', [{ resource: 'api_keys', action: 'read' }], 'API keys: read'],
  ['customer', 'name', 'on_call', 'on_call'],
  ['customer', 'country', 'DE', 'Germany'],
  ['release', 'platform', 'darwin', 'macOS'],
  ['release', 'rolloutPercentage', 5, '5 %'],
  ['release', 'isDraft', true, 'Yes'],
  ['api_key', 'isActive', false, 'Inactive'],
  [
    'release',
    'rolloutPlan',
    [
      { percentage: 5, hours: 24 },
      { percentage: 100, hours: null },
    ],
    '5 % for 24 h, 100 %',
  ],
  [
    'tag',
    'windows',
    [{ zone: 'Europe/Berlin', weekdays: ['sat', 'sun'], from: '22:00', to: '05:00' }],
    'Sat, Sun 22:00–05:00 (Europe/Berlin)',
  ],
  ['release', 'publishedAt', '2026-11-26T19:24:33.071Z', fullTime('2026-11-26T19:24:33.071Z')],
  // what somebody typed, and an entry that was altered
  ['customer', 'contactName', '2026-99-99T99:99Z', '2026-99-99T99:99Z'],
  ['license', 'validUntil', 'soon', 'soon'],
  ['license', 'moduleIds', [], null],
  ['customer', 'phone', null, null],
])('of %s, %s %j reads %s', (resource, field, value, word) =>
  expect(valueWord(resource, field, value)).toBe(word),
);
