import { expect, test } from 'vitest';
import { countries } from '../../contract/countries.ts';
import { bestFirst, matching, whyUnclear } from './best-match.ts';

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
  ['GÉRM', ['Germany']],
  ['GUINEA ', ['Guinea', 'Guinea-Bissau', 'Equatorial Guinea']],
  ['sel', []],
  ['atlantis', []],
])('%j matches best first', (typed, labels) => {
  expect(matching(choices, typed).map(({ label }) => label)).toEqual(labels);
});

test.each(['new york', 'New_York', 'america/new york'])('%j finds a time zone', (typed) => {
  const zones = ['America/New_York', 'Europe/York'].map((name) => ({ value: name, label: name }));
  const found = matching(zones, typed);
  expect(found.map(({ value }) => value)).toEqual(['America/New_York']);
  expect(whyUnclear(found, typed)).toBeUndefined();
});

const ofCountries = countries.map(({ code, name, also }) => ({ value: code, label: name, also }));

test.each([
  ['DE', 'Germany'],
  ['no', 'Norway'],
  ['ch ', 'Switzerland'],
  ['uk', 'United Kingdom'],
  ['ukr', 'Ukraine'],
  ['usa', 'United States'],
  ['UAE', 'United Arab Emirates'],
  ['turkiye', 'Türkiye'],
  ['turkey', 'Türkiye'],
  ['cote', 'Côte d’Ivoire'],
  ["Côte d'Ivoire", 'Côte d’Ivoire'],
  ['sao tome', 'São Tomé & Príncipe'],
  ['bosnia and herzegovina', 'Bosnia & Herzegovina'],
  ['bosnia and', 'Bosnia & Herzegovina'],
  ['st vin', 'St. Vincent & Grenadines'],
  ["cote d'i", 'Côte d’Ivoire'],
  ['st lucia', 'St. Lucia'],
  ['korea', 'South Korea'],
  ['britain', 'United Kingdom'],
])('%j chooses the country %s', (typed, label) => {
  const found = matching(ofCountries, typed);
  expect([found[0]?.label, whyUnclear(found, typed)]).toEqual([label, undefined]);
});

test.each(['brit', '´'])('%j chooses no country', (typed) => {
  expect(whyUnclear(matching(ofCountries, typed), typed)).toBe('None has this name: choose one');
});

test('without a text all choices stand in their order', () => {
  expect(matching(choices, ' ')).toEqual(choices);
});

const unclear = 'Several have this name: choose one';

test.each([
  ["st. mary's hospital", unclear],
  ['st. mar', unclear],
  ['St. Märy', unclear],
  ["ST. MARY'S HOSPITAL · IRELAND ", undefined],
  ["st. mary's clinic", undefined],
])('whether %j is the name of several', (typed, why) => {
  const offered = [
    { value: '1', name: "St. Mary's Hospital", label: "St. Mary's Hospital · Ireland" },
    { value: '2', name: "St. Máry's hospital", label: "St. Máry's hospital · United Kingdom" },
    { value: '3', name: "St. Mary's Clinic", label: "St. Mary's Clinic" },
  ];
  expect(whyUnclear(bestFirst(offered, typed), typed)).toBe(why);
});

test.each([
  ['charite', ['Charité', 'Charité Catering', 'Army Hospital'], undefined],
  ['CHARITE\u0301', ['Charité', 'Charité Catering', 'Army Hospital'], undefined],
  ['labor', ['Army Hospital', 'Charité'], 'None has this name: choose one'],
  ['labor@charite.example', ['Army Hospital'], undefined],
  ['it@all.example', ['Charité Catering', 'Clinic'], 'None has this name: choose one'],
  ['bonn', ['Klinikum Bonn', 'Eye Clinic'], undefined],
])('%j chooses by the name, not by a part of an email', (typed, labels, why) => {
  const offered = [
    { value: '1', label: 'Army Hospital', also: ['labor@charite.example'] },
    { value: '2', label: 'Charité Catering', also: ['it@all.example'] },
    { value: '3', label: 'Charité', also: ['collaboration@all.example'] },
    { value: '4', label: 'Clinic', also: ['it@all.example'] },
    { value: '5', label: 'Eye Clinic', also: ['it@eyes-bonn.example'] },
    { value: '6', label: 'Klinikum Bonn' },
  ];
  const found = matching(offered, typed);
  expect(found.map(({ label }) => label)).toEqual(labels);
  expect(whyUnclear(found, typed)).toBe(why);
});
