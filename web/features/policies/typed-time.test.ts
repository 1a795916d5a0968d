import { expect, test } from 'vitest';
import { readTime, readTimes } from './typed-time.ts';

test.each([
  ['22:00', '22:00'],
  ['7:30', '07:30'],
  [' 7.30 ', '07:30'],
  ['22', '22'],
  ['22:', '22:'],
  ['22:6', '22:6'],
  ['24:00', '24:00'],
  ['12:60', '12:60'],
  ['10 pm', '10 pm'],
])('%j is read as %j', (typed, read) => expect(readTime(typed)).toBe(read));

test.each([
  ['22:00-06:00', { from: '22:00', to: '06:00' }],
  ['22:00 – 6:00', { from: '22:00', to: '06:00' }],
  ['22.00 to 25:00', { from: '22:00', to: '25:00' }],
  ['22:00', undefined],
  ['22:00-', undefined],
  ['22:00-0', undefined],
  ['22:00 - 06:0', undefined],
  ['1-2-3', undefined],
])('%j as two times is %j', (typed, read) => expect(readTimes(typed)).toEqual(read));
