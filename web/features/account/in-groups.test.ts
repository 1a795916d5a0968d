import { expect, test } from 'vitest';
import { inGroups } from './in-groups.ts';

test.each([
  ['ABCDEFGH', 'ABCD EFGH'],
  ['ABCDEFGHI', 'ABCD EFGH I'],
  ['ABC', 'ABC'],
  ['', ''],
])('%j is shown as %j', (key, expected) => expect(inGroups(key)).toBe(expected));
