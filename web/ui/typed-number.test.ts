import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localeOf } from './locale.ts';
import { numberText, readNumber, typedNumbersIn } from './typed-number.ts';

test.each([
  ['5', 5],
  [' 5 ', 5],
  ['007', 7],
  ['250', 250],
  ['-3', -3],
  ['0', 0],
  ['-0', 0],
  ['1.5', 1.5],
  ['2.25', 2.25],
  ['1 000', 1000],
  ['1,000', 1000],
  ["1'000'000", 1_000_000],
  ['184\u202f549\u202f376', 184_549_376],
  ['-1,000', -1000],
  ['２５', 25],
])('%j is the number %d', (text, number) => expect(readNumber(text)).toBe(number));

test.each([
  '',
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
  '5²',
])('%j is no number and stays as it is', (text) => expect(readNumber(text)).toBe(text));

test('blank text is empty', () => {
  expect(readNumber(' \u3000')).toBe('');
  expect(readNumber(' ', '%')).toBe('');
});

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

test('any text is a number that JavaScript reads in it too, or is kept unless it is blank', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,-e %'.split('')) }), (text) => {
      const read = readNumber(text);
      if (typeof read === 'string') expect(read).toBe(text.trim() && text);
      else expect(read).toBe(Number(text.replaceAll(/[ ,]/g, '')) + 0);
    }),
  );
});

const written: [language: string, shown: string, alsoRead: string[], refused: string[]][] = [
  ['de-DE', '1.234.567,5', ['1234567,5', '1234567.5', '1 234 567'], ['1,000', '1,234.5']],
  ['en-IN', '12,34,567.5', ['1,234,567', '1234567'], ['1,23,4567', '1.000']],
  ['fr-FR', '1\u202f234\u202f567,5', ['1 234 567', '1234567,5'], ['1.000', '1,000']],
  ['es-ES', '1.234.567,5', ['1 234 567', '1234567.5'], ['1,000']],
  ['ja-JP', '1,234,567.5', ['1234567.5'], ['1,5']],
];

test.each(written)('numbers are shown and read as in %s', (language, shown, alsoRead, refused) => {
  const numbers = typedNumbersIn(localeOf(language));
  expect(numbers.numberText(1_234_567.5)).toBe(shown);
  for (const text of alsoRead) expect(Math.trunc(Number(numbers.readNumber(text))), text).toBe(1_234_567);
  for (const text of refused) expect(numbers.readNumber(text), text).toBe(text);
  for (const number of [0, -1, 999, 1000, -1234, 1234.5, 12.25, 1_234_567_890])
    expect(numbers.readNumber(numbers.numberText(number)), numbers.numberText(number)).toBe(number);
});
