import { expect, test } from 'vitest';
import { noPolicy, policies, updatePolicy, type UpdatePolicy } from '../../../contract/policies.ts';
import { shownDay } from '../../ui/typed-day.ts';
import {
  conflictRows,
  impactSentences,
  policyPayload,
  tagsOf,
  usualWindow,
  valuesOf,
  wholePolicy,
} from './policy-form.ts';

test('a policy that is opened and saved is unchanged', () => {
  const policy = {
    channel: 'beta' as const,
    pin: '4.2.',
    pinForSecurity: true,
    deferDays: 0,
    windows: [usualWindow()],
    updatesUntil: '2026-12-31',
  };
  for (const one of [policy, noPolicy, { ...policy, windows: [] }]) {
    expect(updatePolicy.parse(policyPayload(valuesOf(one)))).toEqual(one);
  }
});

test('tags are read from text, and what is no number is left to the contract to refuse', () => {
  expect(tagsOf({ tags: ' Clinics, slow,slow , ' })).toEqual(['clinics', 'slow']);
  // not two tags, one of which may have a policy: the contract refuses it
  expect(tagsOf({ tags: 'slow clinics' })).toEqual(['slow clinics']);
  const body = { ...policyPayload({ ...valuesOf(noPolicy), deferDays: 'a week' }), tags: [] };
  const issues = policies.putOfCustomer.body.safeParse(body).error?.issues ?? [];
  expect(issues.map(({ path }) => path.join('.'))).toEqual(['deferDays']);
});

test('without a pin there is nothing to hold for security updates', () => {
  expect(policyPayload({ ...valuesOf(noPolicy), pin: ' ', pinForSecurity: true })).toEqual(noPolicy);
});

test('a field that a merge left out is sent as not set', () => {
  expect(wholePolicy({ pin: '4.', deferDays: undefined as never })).toEqual({ ...noPolicy, pin: '4.' });
});

test.each([
  [{ changed: 0, held: 0, pinMatches: null }, ['None of 12 machines would be offered something else now.']],
  [
    { changed: 3, held: 2, pinMatches: true },
    ['3 of 12 machines would be offered something else now, 2 of them nothing.'],
  ],
  [
    { changed: 3, held: 3, pinMatches: true, unpinned: 9 },
    [
      '3 of 12 machines would be offered something else now, all of them nothing.',
      'For 9 of them no published release matches the pinned version. Until one does, the pin does not hold them back.',
    ],
  ],
  [
    { changed: 0, held: 0, pinMatches: false, unpinned: 12 },
    [
      'None of 12 machines would be offered something else now.',
      'No published release matches the pinned version. Until one does, the pin holds back no machine.',
    ],
  ],
  [
    { changed: 0, held: 0, pinMatches: false, unpinned: 7 },
    [
      'None of 12 machines would be offered something else now.',
      'No published release matches the pinned version. Until one does, the pin holds back only machines that run a version inside it.',
    ],
  ],
  [
    { changed: 0, held: 0, pinMatches: false, unpinned: 0 },
    [
      'None of 12 machines would be offered something else now.',
      'No published release matches the pinned version. Until one does, the pin holds back only machines that run a version inside it.',
    ],
  ],
  [
    { changed: 1, held: 0, pinMatches: null, isComplete: false },
    ['1 of the first 12 machines would be offered something else now.'],
  ],
])('%j is said in words', (impact, said) => {
  const whole = { machines: 12, isComplete: true, unpinned: 0, ...impact };
  expect(impactSentences(whole, noPolicy)).toEqual(said);
});

test('what windows and a last day hold back later is said, whatever the moment of the count', () => {
  const [window, none] = [usualWindow(), { machines: 12, changed: 0, held: 0, pinMatches: null }];
  const urgent = 'nothing is offered but security updates and what a machine needs to stay supported.';
  const said = (policy: Partial<UpdatePolicy>) =>
    impactSentences({ ...none, isComplete: true, unpinned: 0 }, { ...noPolicy, ...policy }).slice(1);
  expect(said({ windows: [] })).toEqual([]);
  expect(said({ windows: [window], updatesUntil: '2026-12-31' })).toEqual([
    `Outside of the maintenance windows, ${urgent}`,
    `After ${shownDay('2026-12-31')} (UTC), ${urgent}`,
  ]);
});

test('a conflict shows what differs as the form does', () => {
  const details = [
    { path: 'channel', message: '', current: 'beta', yours: 'stable' },
    { path: 'deferDays', message: '', current: 1, yours: null },
    { path: 'updatesUntil', message: '', current: '2027-12-31', yours: '2028-01-31' },
    { path: 'tags', message: '', current: ['a', 'b'], yours: [] },
    { path: 'windows', message: '', current: [usualWindow()], yours: null },
    { path: 'windows', message: '', current: null, yours: [] },
  ];
  expect(conflictRows({ details }).map(({ theirs, yours }) => [theirs, yours])).toEqual([
    ['Beta', 'Stable'],
    ['1 day', '—'],
    [shownDay('2027-12-31'), shownDay('2028-01-31')],
    ['a, b', '—'],
    [expect.stringMatching(/^every day 22:00–05:00/), 'Not set'],
    ['Not set', 'At any time, whatever a tag says'],
  ]);
});
