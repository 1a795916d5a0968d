import { expect, test } from 'vitest';
import { offerReasons } from '../../../contract/machines.ts';
import { bucketText, isForPlatform, reasonLabels } from './offer-labels.ts';

test('every reason has words, and only other platforms are left aside', () => {
  expect(offerReasons.filter((reason) => !reasonLabels[reason])).toEqual([]);
  expect(offerReasons.filter((reason) => !isForPlatform({ reason }))).toEqual(['OTHER_PLATFORM']);
});

test('the words of a release that the settings of the machine or of the release rule out', () => {
  expect(reasonLabels).toMatchObject({
    CHANNEL: 'Other channel',
    INACTIVE: 'Inactive',
    MINIMUM_VERSION: 'Below minimum version',
    NOT_NEWER: 'Not newer',
  });
});

test.each([
  [41.7, 5, '41.70 of 5 %'],
  [41.7, 100, '100 %'],
  [null, 25, '25 %'],
])('bucket %s at %d percent: %s', (bucket, rolloutPercentage, text) =>
  expect(bucketText({ bucket, rolloutPercentage })).toBe(text),
);
