import { expect, test } from 'vitest';
import { readCode } from './second-factor-code.ts';

test.each([
  ['123456', '123456'],
  [' 123 456\n', '123456'],
  ['\ufeff123\u200b456', '123456'],
  ['１２３\u00a0４５６', '123456'],
  ['s9sku-r5tbr', 's9sku-r5tbr'],
  [' S9SKU r5tbr ', 'S9SKU-r5tbr'],
  ['s9sku–r5tbr', 's9sku-r5tbr'],
  ['s9skur5tbr', 's9sku-r5tbr'],
  ['12345', '12345'],
  ['s9sku-r5tbr-x', 's9skur5tbrx'],
])('the typed code %j is sent as %j', (typed, sent) => expect(readCode(typed)).toBe(sent));
