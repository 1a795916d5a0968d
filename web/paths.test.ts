import { expect, test } from 'vitest';
import { safeRedirect } from './paths.ts';

const origin = 'https://console.example';

test.each([
  ['/customers?page=2', '/customers?page=2'],
  [undefined, '/'],
  ['', '/'],
  ['customers', '/'],
  ['//evil.example/x', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/login?redirect=/customers', '/'],
  ['/\t/evil.example', '/'],
])('redirect %j leads to %s', (wanted, expected) => expect(safeRedirect(wanted, origin)).toBe(expected));
