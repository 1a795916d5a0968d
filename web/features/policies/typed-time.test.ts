import { expect, test } from 'vitest';
import { readEnd, readTime, readTimes } from './typed-time.ts';

test.each([
  ['22:00', '22:00'],
  ['7:30', '07:30'],
  [' 7.30 ', '07:30'],
  ['22', '22'],
  ['22:', '22:'],
  ['7:5', '07:05'],
  ['2200', '22:00'],
  ['730', '07:30'],
  ['２２：３０', '22:30'],
  ['2460', '2460'],
  ['20261', '20261'],
  ['24:00', '24:00'],
  ['12:60', '12:60'],
  ['10 pm', '10 pm'],
])('%j is read as %j', (typed, read) => expect(readTime(typed)).toBe(read));

test.each([
  ['24:00', '00:00'],
  ['2400', '00:00'],
  ['２４：００', '00:00'],
  ['24:01', '24:01'],
  ['6:00', '06:00'],
])('%j as the end of a window is %j', (typed, read) => expect(readEnd(typed)).toBe(read));

test.each([
  ['22:00-06:00', { from: '22:00', to: '06:00' }],
  ['22:00 – 6:00', { from: '22:00', to: '06:00' }],
  ['2200-0615', { from: '22:00', to: '06:15' }],
  ['2026-2027', undefined],
  ['２２：００－２４：００', { from: '22:00', to: '00:00' }],
  ['22.00 to 25:00', { from: '22:00', to: '25:00' }],
  ['22:00', undefined],
  ['22:00-', undefined],
  ['22:00-0', undefined],
  ['22:00 - 06:0', undefined],
  ['1-2-3', undefined],
])('%j as two times is %j', (typed, read) => expect(readTimes(typed)).toEqual(read));
