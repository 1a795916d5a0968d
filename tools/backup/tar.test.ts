import { expect, test } from 'vitest';
import { largestFile } from '../../contract/builds.ts';
import { headerOf, readHeader } from './tar.ts';

test.each([0, 1, 8 ** 11 - 1, 8 ** 11, largestFile])('a file of %i bytes fits into an archive', (size) =>
  expect(readHeader(headerOf('binaries/a', size, new Date(0)))).toEqual({ name: 'binaries/a', size }),
);

test('what is too large for octal digits is written as GNU tar does', () =>
  expect(
    headerOf('a', 8 ** 11, new Date(0))
      .subarray(124, 136)
      .toString('hex'),
  ).toBe('800000000000000200000000'));
