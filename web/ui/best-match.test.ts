import { expect, test } from 'vitest';
import { countries } from '../../contract/countries.ts';
import { bestFirst, isOneOfSeveral, matching } from './best-match.ts';

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

test.each([
  ["st. mary's hospital", true],
  ['st. mar', true],
  ["ST. MARY'S HOSPITAL · IRELAND ", false],
  ["st. mary's clinic", false],
])('whether %j is the name of several', (typed, isUnclear) => {
  const offered = [
    { value: '1', name: "St. Mary's Hospital", label: "St. Mary's Hospital · Ireland" },
    { value: '2', name: "St. Mary's hospital", label: "St. Mary's hospital · United Kingdom" },
    { value: '3', name: "St. Mary's Clinic", label: "St. Mary's Clinic" },
  ];
  expect(isOneOfSeveral(bestFirst(offered, typed), typed)).toBe(isUnclear);
});
