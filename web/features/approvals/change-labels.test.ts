import { expect, test } from 'vitest';
import { fullTime } from '../../ui/time.ts';
import { fieldLabel, shownValue } from './change-labels.ts';

test.each([
  ['isDraft', 'Draft'],
  ['rolloutPercentage', 'Rollout percentage'],
  ['minimumAppVersion', 'Minimum app version'],
  ['required', 'Required'],
  ['issues', 'Issues'],
])('%s is shown as %s', (field, label) => expect(fieldLabel(field)).toBe(label));

test('a plan in words', () =>
  expect(
    shownValue([
      { percentage: 5, hours: 24 },
      { percentage: 100, hours: null },
    ]),
  ).toBe('5 % for 24 h, 100 %'));

test('yes and no, and other values as they are', () =>
  expect([true, false, 5, null, 'x'].map(shownValue)).toEqual(['yes', 'no', 5, null, 'x']));

test('a time is that of the reader', () =>
  expect(shownValue('2026-11-26T19:24:33.071Z')).toBe(fullTime('2026-11-26T19:24:33.071Z')));
