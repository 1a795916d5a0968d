import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberText, readNumber } from './typed-number.ts';

test.each([
  ['5', 5],
  [' 5 ', 5],
  ['007', 7],
  ['250', 250],
  ['-3', -3],
  ['0', 0],
  ['1.5', 1.5],
  ['2.25', 2.25],
  ['1 000', 1000],
  ['1,000', 1000],
  ["1'000'000", 1_000_000],
  ['184\u202f549\u202f376', 184_549_376],
  ['-1,000', -1000],
])('%j is the number %d', (text, number) => expect(readNumber(text)).toBe(number));

test.each([
  '',
  ' ',
  'abc',
  '1e3',
  '+5',
  '1.000',
  '5.0',
  '0,5',
  '1,00',
  '10 00',
  '1,000 000',
  '5-',
  '--5',
  '0x10',
  '٥',
])('%j is no number and stays as it is', (text) => expect(readNumber(text)).toBe(text));

test('the unit may stand behind the number', () => {
  expect(readNumber('5%', '%')).toBe(5);
  expect(readNumber('5 %', '%')).toBe(5);
  expect(readNumber('5 %')).toBe('5 %');
  expect(readNumber('%', '%')).toBe('%');
});

test('whatever is shown is read as the same number', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (whole) => {
      expect(readNumber(numberText(whole))).toBe(whole + 0);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), (hundredths) => {
      const percent = hundredths / 100;
      expect(readNumber(numberText(percent))).toBe(percent);
    }),
  );
});

test('any text is a number that JavaScript reads in it too, or is kept', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,-e %'.split('')) }), (text) => {
      const read = readNumber(text);
      if (typeof read === 'string') expect(read).toBe(text);
      else expect(read).toBe(Number(text.replaceAll(/[ ,]/g, '')) + 0);
    }),
  );
});
