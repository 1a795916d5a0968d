import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameRanges, readRanges } from './ranges.ts';

describe('a Range header over 1000 bytes', () => {
  test.each([
    [undefined, 'whole'],
    ['bytes=0-0', [{ start: 0, end: 0 }]],
    ['bytes=0-', [{ start: 0, end: 999 }]],
    ['bytes=500-', [{ start: 500, end: 999 }]],
    ['bytes=999-2000', [{ start: 999, end: 999 }]],
    ['bytes=-1', [{ start: 999, end: 999 }]],
    ['bytes=-5000', [{ start: 0, end: 999 }]],
    ['bytes=500-9223372036854775807', [{ start: 500, end: 999 }]],
    ['bytes=-9223372036854775807', [{ start: 0, end: 999 }]],
    ['bytes=9223372036854775806-9223372036854775807', 'unsatisfiable'],
    [`bytes=1-${'9'.repeat(30)}`, [{ start: 1, end: 999 }]],
    [`bytes=${'9'.repeat(30)}-`, 'unsatisfiable'],
    ['Bytes = 1-2', [{ start: 1, end: 2 }]],
    [
      'bytes=0-1, 5-6,,-2',
      [
        { start: 0, end: 1 },
        { start: 5, end: 6 },
        { start: 998, end: 999 },
      ],
    ],
    ['bytes=5-6,1000-', [{ start: 5, end: 6 }]],
    ['bytes=1000-', 'unsatisfiable'],
    ['bytes=1000-1001,2000-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=2-1', 'whole'],
    ['bytes=', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=1-2;3-4', 'whole'],
    ['lines=1-2', 'whole'],
    ['bytes=0-999,0-999', 'whole'],
    [`bytes=${Array.from({ length: 3000 }, () => '1-1').join(',')}`, 'whole'],
  ])('%j asks for %j', (header, expected) => {
    expect(readRanges(header, 1000)).toEqual(expected);
  });

  test('never asks for what is not there, whatever it says', () => {
    const spec = fc.oneof(
      fc.tuple(fc.nat(3000), fc.nat(3000)).map(([a, b]) => `${a}-${b}`),
      fc.nat(3000).map((n) => `-${n}`),
      fc.nat(3000).map((n) => `${n}-`),
      fc.string({ maxLength: 8 }),
    );
    const header = fc.array(spec, { maxLength: 6 }).map((specs) => `bytes=${specs.join(',')}`);
    fc.assert(
      fc.property(header, fc.nat(2000), (text, size) => {
        const ranges = readRanges(text, size);
        if (typeof ranges === 'string') return;
        expect(ranges.length).toBeGreaterThan(0);
        for (const { start, end } of ranges) {
          expect(start).toBeLessThanOrEqual(end);
          expect(end).toBeLessThan(size);
        }
        const { heads, tail, length } = frameRanges(ranges, size, 'b');
        const body = ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
        expect(length).toBe(heads.join('').length + tail.length + body);
      }),
    );
  });
});
