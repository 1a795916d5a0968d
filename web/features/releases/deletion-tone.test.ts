import { expect, test } from 'vitest';
import { daysText, deletionTone } from './deletion-tone.ts';

test.each([
  [0, 'red', '0 days'],
  [1, 'red', '1 day'],
  [7, 'red', '7 days'],
  [8, 'amber', '8 days'],
  [14, 'amber', '14 days'],
  [15, 'neutral', '15 days'],
  [30, 'neutral', '30 days'],
])('%d days left are %s', (days, tone, text) => {
  expect(deletionTone(days)).toBe(tone);
  expect(daysText(days)).toBe(text);
});
