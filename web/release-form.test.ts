import { expect, test } from 'vitest';
import {
  minimumErrors,
  percentageOf,
  publishPayload,
  withDraft,
  type PublishValues,
} from './release-form.ts';

const values: PublishValues = {
  channel: 'stable',
  releaseNotes: '',
  minimumAppVersion: '',
  isMandatory: true,
  minimumSupportedVersion: '',
  security: false,
  isDraft: false,
  rolloutPercentage: 30,
  acceptableFailures: '',
};

test.each([
  [5, 5],
  ['', 0],
  ['abc', 0],
  [101, 101],
  [4.6, 4.6],
])('%j in the number field is %d percent', (typed, expected) => expect(percentageOf(typed)).toBe(expected));

test('a minimum version that shuts out every older version is refused, unless the release has it already', () => {
  const refused = { minimumAppVersion: 'Must be lower than the version of the release' };
  expect(minimumErrors('4.30.0', '4.4.0')).toEqual(refused);
  expect(minimumErrors(' 4.4.0', '4.4.0', '4.3.0')).toEqual(refused);
  expect(minimumErrors('4.4.0', '4.4.0', '4.4.0')).toEqual({});
  for (const [least, own] of [
    ['4.3.9', '4.4.0'],
    ['', '4.4.0'],
    ['4.', '4.4.0'],
    ['4.4.0', ''],
  ] as const)
    expect(minimumErrors(least, own)).toEqual({});
});

test('a draft is never mandatory', () => {
  expect(withDraft(values, true, 5)).toEqual({ isDraft: true, isMandatory: false });
  expect(withDraft({ ...values, isMandatory: false }, false, 5)).toEqual({
    isDraft: false,
    isMandatory: false,
  });
  expect(publishPayload({ ...values, isDraft: true }).isMandatory).toBe(false);
  expect(publishPayload(values).isMandatory).toBe(true);
});

test.each([250, 12.5, ''])(
  'a draft does not keep a rollout of %j, which could not be corrected',
  (rolloutPercentage) => {
    expect(withDraft({ ...values, rolloutPercentage }, true, 5)).toMatchObject({ rolloutPercentage: 5 });
    expect(withDraft({ ...values, rolloutPercentage }, false, 5)).not.toHaveProperty('rolloutPercentage');
  },
);

test.each([
  ['', null],
  [2.5, 2.5],
  ['2,5', '2,5'],
])('acceptable failures of %j are sent as %j', (acceptableFailures, expected) =>
  expect(publishPayload({ ...values, acceptableFailures }).acceptableFailures).toBe(expected),
);
