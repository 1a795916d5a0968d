import { expect, test } from 'vitest';
import { momentText, utcDate } from '../../ui/time.ts';
import { eventWord, fieldWord, summaryWords } from './audit-words.ts';

test.each([
  ['customer', 'name', 'Company Name'],
  ['customer', 'deferDays', 'Deferral'],
  ['license', 'moduleIds', 'Modules'],
  ['license', 'customer.name', 'Customer name'],
  ['license', 'licenseId', 'License ID'],
  ['release', 'isDraft', 'Draft Release'],
  ['release', 'rolloutPercentage', 'Rollout percentage'],
  ['channel', 'isRequired', 'Required'],
  ['user', 'name', 'Name'],
])('the field %s %s is called %s', (resource, field, label) =>
  expect(fieldWord(resource, field)).toBe(label),
);

test.each([
  ['customer.soft_deleted', 'Customer soft deleted'],
  ['api_key.created', 'API key created'],
  ['session.login_failed', 'Sign-in failed'],
  // only in a link that somebody typed
  ['constructor', 'Constructor'],
])('the event %s is called %s', (event, word) => expect(eventWord(event)).toBe(word));

const at = '2026-11-26T19:24:33.071Z';
const day = '2026-11-26T00:00:00.000Z';
test.each([
  ['customer.updated', 'Clinic: name: A → B; phone: – → 12', 'Clinic: Company Name: A → B; Phone: – → 12'],
  [
    'license.updated',
    `KEY: validUntil: ${day} → ${at}; moduleIds: mod_lung_nodule → none; note: a → b`,
    `KEY: Valid Until: ${utcDate(day)} → ${momentText(at)}; Modules: Lung Nodule → none; Note: a → b`,
  ],
  [
    'tag.policy_changed',
    'Tag clinics: update policy deferDays: – → 7',
    'Tag clinics: update policy Deferral: – → 7',
  ],
  ['audit.config_changed', 'Audit log: retentionDays: 730 → 400', 'Audit log: Retention days: 730 → 400'],
  [
    'release.soft_deleted',
    '4.2.2: moved to the recycle bin: wrong: branch',
    '4.2.2: moved to the recycle bin: wrong: branch',
  ],
  ['release.published', `4.2.2: starting at ${day}`, `4.2.2: starting at ${momentText(day)}`],
  // what somebody typed
  [
    'customer.updated',
    'Clinic: email: 2026-99-99T99:99Z → constructor: x',
    'Clinic: Email: 2026-99-99T99:99Z → constructor: x',
  ],
])('of %s, %s reads %s', (event, stored, shown) => expect(summaryWords(event, stored)).toBe(shown));
