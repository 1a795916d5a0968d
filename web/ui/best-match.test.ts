import { expect, test } from 'vitest';
import { countries } from '../../contract/countries.ts';
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

test.each([
  ['DE', 'Germany'],
  ['no', 'Norway'],
  ['ch ', 'Switzerland'],
])('%j is the code of a country, not the beginning of another', (code, label) => {
  const offered = countries.map((country) => ({ value: country.code, label: country.name }));
  expect(matching(offered, code)[0]?.label).toBe(label);
});

test('without a text all choices stand in their order', () => {
  expect(matching(choices, ' ')).toEqual(choices);
});
