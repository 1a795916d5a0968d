import { expect, test } from 'vitest';
import { deletionTone } from './deletion-tone.ts';

test.each([
  [0, 'red'],
  [1, 'red'],
  [7, 'red'],
  [8, 'amber'],
  [14, 'amber'],
  [15, 'neutral'],
  [30, 'neutral'],
])('%d days left are %s', (days, tone) => expect(deletionTone(days)).toBe(tone));
