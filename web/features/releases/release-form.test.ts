import { expect, test } from 'vitest';
import type { Release } from '../../../contract/releases.ts';
import {
  lacksRollout,
  lockedFor,
  needsReachConfirm,
  percentageToChoose,
  rolloutAfter,
  rolloutOnPublishing,
  rolloutText,
  valuesOf,
} from './release-form.ts';

const release: Release = {
  id: '1',
  version: '1.2.3',
  channel: 'beta',
  platform: 'win32',
  architecture: 'x64',
  isActive: true,
  isDraft: false,
  isMandatory: true,
  rolloutPercentage: 5,
  damagedAt: null,
  minimumAppVersion: null,
  security: false,
  minimumSupportedVersion: null,
  fullAt: null,
  releaseNotes: null,
  releaseDate: '2026-11-20T09:00:00.000Z',
  fileName: 'a.exe',
  fileSize: 1,
  fileUrl: 'https://x.example/a.exe',
  sha512: '',
  downloadCount: 0,
  acceptableFailures: null,
  pausedAt: null,
  pauseReason: null,
  pausedBy: null,
  createdAt: '2026-11-20T09:00:00.000Z',
  updatedAt: '2026-11-20T09:00:00.000Z',
};
const values = valuesOf(release);

test('a draft without a chosen percentage is not published', () => {
  const published = { ...values, isDraft: false, ...percentageToChoose(false) };
  expect(lacksRollout(published)).toBe(true);
  expect(lacksRollout({ ...published, rolloutPercentage: 0 })).toBe(false);
  expect(percentageToChoose(true)).toEqual({ rolloutPercentage: 100 });
});

test.each([
  ['publishing to all', { isDraft: true, rolloutPercentage: 100 }, { rolloutPercentage: 100 }, true],
  [
    'publishing to a share that was chosen',
    { isDraft: true, rolloutPercentage: 100 },
    { rolloutPercentage: 5 },
    false,
  ],
  [
    'publishing to the share of before',
    { isDraft: true, rolloutPercentage: 40 },
    { rolloutPercentage: 40 },
    true,
  ],
  ['widening to all', { rolloutPercentage: 40 }, { rolloutPercentage: 100 }, true],
  ['widening to a larger share', { rolloutPercentage: 40 }, { rolloutPercentage: 60 }, false],
  ['narrowing', { rolloutPercentage: 40 }, { rolloutPercentage: 20 }, false],
  ['activating', { isActive: false, rolloutPercentage: 40 }, { rolloutPercentage: 40 }, true],
  [
    'moving to a wider channel',
    { channel: 'beta', rolloutPercentage: 40 },
    { channel: 'stable', rolloutPercentage: 40 },
    true,
  ],
  [
    'moving to a narrower channel',
    { channel: 'stable', rolloutPercentage: 100 },
    { channel: 'beta', rolloutPercentage: 100 },
    false,
  ],
  ['notes alone', { rolloutPercentage: 100 }, { rolloutPercentage: 100 }, false],
  [
    'widening what is paused',
    { pausedAt: '2026-11-20T09:00:00.000Z', rolloutPercentage: 40 },
    { rolloutPercentage: 100 },
    false,
  ],
] as const)('%s is confirmed with the number of machines: %#', (_, seen, change, confirmed) => {
  expect(needsReachConfirm({ ...values, ...change }, { ...release, ...seen })).toBe(confirmed);
});

test('publishing a draft takes the percentage along', () => {
  expect(rolloutOnPublishing(values, { isDraft: true })).toEqual({ rolloutPercentage: 5 });
  expect(rolloutOnPublishing(values, { isDraft: false })).toEqual({});
  expect(rolloutOnPublishing({ ...values, isDraft: true }, { isDraft: true })).toEqual({});
});

test('a rollout call follows when the percentage of a published release changed', () => {
  expect(rolloutAfter(values, 10)).toBe(5);
  expect(rolloutAfter(values, 5)).toBeUndefined();
  expect(rolloutAfter({ ...values, rolloutPercentage: 100 }, 5)).toBe(100);
  expect(rolloutAfter({ ...values, rolloutPercentage: 100 }, 100)).toBeUndefined();
  expect(rolloutAfter({ ...values, isDraft: true }, 100)).toBeUndefined();
});

test('says whom a rollout reaches', () => {
  expect(rolloutText(100)).toBe('This release will be available to all users immediately');
  expect(rolloutText(5)).toBe('This release will be gradually rolled out to 5% of users');
});

test.each([
  [
    { isDraft: true, isActive: true },
    { draft: true, active: false, terms: false },
  ],
  [
    { isDraft: true, isActive: false },
    { draft: true, active: false, terms: false },
  ],
  [
    { isDraft: false, isActive: false },
    { draft: false, active: true, terms: false },
  ],
  [
    { isDraft: false, isActive: true },
    { draft: false, active: false, terms: true },
  ],
])('who may not publish brings %o to no machine, nor on other terms: %o', (seen, locked) => {
  expect(lockedFor(seen, false)).toEqual(locked);
  expect(Object.values(lockedFor(seen, true))).toEqual([false, false, false]);
});
