import { expect, test } from 'vitest';
import type { Release } from '../../../contract/releases.ts';
import {
  asDraft,
  payloadOf,
  percentageOf,
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
  minimumAppVersion: null,
  releaseNotes: null,
  releaseDate: '2026-11-20T09:00:00.000Z',
  fileName: 'a.exe',
  fileSize: 1,
  fileUrl: 'https://x.example/a.exe',
  sha512: '',
  downloadCount: 0,
  failureThreshold: null,
  pausedAt: null,
  pauseReason: null,
  pausedBy: null,
  createdAt: '2026-11-20T09:00:00.000Z',
  updatedAt: '2026-11-20T09:00:00.000Z',
};
const values = valuesOf(release);

test.each([
  [5, 5],
  ['42', 42],
  ['', 0],
  ['abc', 0],
  [Number.NaN, 0],
  [101, 100],
  [-3, 0],
  [4.6, 5],
])('%j in the number field is %d percent', (typed, expected) => expect(percentageOf(typed)).toBe(expected));

test('a draft is never mandatory', () => {
  expect(asDraft(values, true)).toEqual({ isDraft: true, isMandatory: false });
  expect(payloadOf({ ...values, isDraft: true, isMandatory: true }).isMandatory).toBe(false);
  expect(asDraft({ ...values, isDraft: true, isMandatory: false }, false).isMandatory).toBe(false);
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

test('the failure threshold is sent only when it is on', () => {
  expect(payloadOf(values).failureThreshold).toBeNull();
  expect(payloadOf({ ...values, guarded: true }).failureThreshold).toEqual({
    percent: 5,
    minimumInstalls: 50,
  });
});

test('says whom a rollout reaches', () => {
  expect(rolloutText(100)).toBe('This release will be available to all users immediately');
  expect(rolloutText(5)).toBe('This release will be gradually rolled out to 5% of users');
});
