import { expect, test } from 'vitest';
import { matching } from './best-match.ts';

const choices = [
  'Select a country',
  'Algeria',
  'Equatorial Guinea',
  'Germany',
  'Guinea-Bissau',
  'Guinea',
].map((label, at) => ({ value: at === 0 ? '' : label, label }));

test.each([
  ['ger', ['Germany', 'Algeria']],
  ['GUINEA ', ['Guinea', 'Guinea-Bissau', 'Equatorial Guinea']],
  ['sel', []],
  ['atlantis', []],
])('%j matches best first', (typed, labels) => {
  expect(matching(choices, typed).map(({ label }) => label)).toEqual(labels);
});

test('without a text all choices stand in their order', () => {
  expect(matching(choices, ' ')).toEqual(choices);
});
