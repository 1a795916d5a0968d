import { expect, test } from 'vitest';
import { bytesText, megabytesText } from './bytes.ts';

test.each([
  [0, '0 Bytes'],
  [1, '1 Byte'],
  [1023, '1,023 Bytes'],
  [1024, '1.00 KB'],
  [20 * 1024 * 1024, '20.00 MB'],
  [1024 ** 2 - 1, '1.00 MB'],
  [1.25 * 1024 ** 3, '1.25 GB'],
  [5000 * 1024 ** 3, '5,000.00 GB'],
])('%d is %s', (bytes, expected) => expect(bytesText(bytes)).toBe(expected));

test('megabytes have two decimals', () => {
  expect(megabytesText(0)).toBe('0.00 MB');
  expect(megabytesText(1_048_576 * 1234.567)).toBe('1,234.57 MB');
});
