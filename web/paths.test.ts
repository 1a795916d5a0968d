import { expect, test } from 'vitest';
import { customerPath, licensePath, machinePath, releasePath, safeRedirect } from './paths.ts';

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

test.each([
  [customerPath('0198'), '/customers/0198'],
  [licensePath('0198'), '/licenses/0198'],
  [machinePath('M-1/../x'), '/machines/M-1%2F..%2Fx'],
  [releasePath('0198'), '/releases/0198'],
])('%s is the page of the record', (path, expected) => expect(path).toBe(expected));
