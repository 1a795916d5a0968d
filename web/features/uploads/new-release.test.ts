import { describe, expect, test } from 'vitest';
import {
  fieldsOf,
  fileNameIn,
  firstOf,
  needsReachConfirm,
  newRelease,
  reachText,
  urlPayloadOf,
  validate,
  valuesOf,
  withVersion,
  type NewReleaseValues,
} from './new-release.ts';
import { planOf } from '../../../tests/plan-of.ts';

const needsFileName = 'Must end in a file name with one of .exe, .dmg, .zip, .nupkg, .AppImage, .deb, .rpm';
const filled: NewReleaseValues = { ...newRelease, bump: null, version: '1.2.3' };
const byUrl: NewReleaseValues = {
  ...filled,
  mode: 'url',
  fileUrl: 'https://cdn.example/app.exe',
  fileSize: 1024,
  sha512: `${'A'.repeat(86)}==`,
};

test('begins with the defaults of the spec', () => {
  expect(fieldsOf(newRelease)).toMatchObject({
    channel: 'stable',
    platform: 'win32',
    architecture: 'x64',
    isDraft: true,
    isMandatory: false,
    rolloutPercentage: 100,
    acceptableFailures: null,
  });
});

describe('refuses', () => {
  test.each<[Partial<NewReleaseValues>, object]>([
    [{ version: '' }, { version: 'Version is required' }],
    [{ version: '  ' }, { version: 'Version is required' }],
    [{ version: '1.2' }, { version: 'Invalid semantic version: 1.2' }],
    [{ version: 'v1.2.3' }, { version: 'Invalid semantic version: v1.2.3' }],
    [{ minimumAppVersion: '1' }, { minimumAppVersion: 'Invalid semantic version: 1' }],
    [
      { version: '1.2.3', minimumAppVersion: '1.2.3' },
      { minimumAppVersion: 'Must be lower than the version of the release' },
    ],
    [{ minimumSupportedVersion: '1' }, { minimumSupportedVersion: 'Invalid semantic version: 1' }],
    [{ acceptableFailures: 0 }, { acceptableFailures: 'Must be a number from 0.1 to 50' }],
    [{ acceptableFailures: '2,5' }, { acceptableFailures: 'Must be a number from 0.1 to 50' }],
  ])('%o', (wrong, errors) => expect(validate({ ...filled, ...wrong }, undefined)).toEqual(errors));

  test('file mode without a file', () => {
    expect(validate(filled, undefined)).toEqual({});
    expect(validate(filled, 'File is required')).toEqual({ file: 'File is required' });
  });

  test.each<[Partial<NewReleaseValues>, object]>([
    [{ fileUrl: '' }, { fileUrl: 'File URL is required' }],
    [{ fileUrl: 'ftp://x/y.exe' }, { fileUrl: 'Must be an http or https address' }],
    [{ fileUrl: 'https://x/42/latest' }, { fileUrl: needsFileName }],
    [{ fileUrl: 'https://x/download?file=y.exe' }, { fileUrl: needsFileName }],
    [{ fileUrl: 'https://me@x/y.exe' }, { fileUrl: 'Must not contain a user name or a password' }],
    [{ fileSize: '' }, { fileSize: 'Valid file size is required' }],
    [{ fileSize: 0 }, { fileSize: 'Valid file size is required' }],
    [{ fileSize: -5 }, { fileSize: 'Valid file size is required' }],
    [{ sha512: '' }, { sha512: 'SHA512 hash is required' }],
    [{ sha512: 'abc' }, { sha512: 'Must be a SHA-512 in base64 or hex' }],
  ])('URL mode with %o', (wrong, errors) => expect(validate({ ...byUrl, ...wrong }, 'None')).toEqual(errors));
});

test('URL mode sends address, size and hash as well', () => {
  expect(validate(byUrl, 'None')).toEqual({});
  expect(urlPayloadOf(byUrl)).toMatchObject({ fileUrl: byUrl.fileUrl, fileSize: 1024, version: '1.2.3' });
});

describe('in steps', () => {
  const plan = { ...newRelease.plan, inSteps: true };
  const inSteps = { ...filled, isDraft: false, plan };
  test('sends the steps in place of the percentage, and asks before', () => {
    expect(fieldsOf({ ...inSteps, rolloutPercentage: 7 })).toMatchObject({
      rolloutPercentage: 100,
      rolloutPlan: planOf([1, 24], [10, 48], [100]),
      startsAt: null,
    });
    expect(firstOf(inSteps)).toBe(1);
    expect(firstOf({ ...inSteps, plan: { ...plan, startsAt: '2999-01-01T08:00' } })).toBe(1);
    expect(needsReachConfirm(inSteps)).toBe(true);
    expect(valuesOf(fieldsOf(inSteps))).toEqual({ ...inSteps, rolloutPercentage: 100 });
  });
  test('is not checked, sent or asked about for a draft', () => {
    const draft = { ...inSteps, isDraft: true, plan: { ...plan, startsAt: 'soon' } };
    expect(validate(draft, undefined)).toEqual({});
    expect(fieldsOf(draft)).not.toHaveProperty('rolloutPlan');
    expect(needsReachConfirm(draft)).toBe(false);
    expect(validate({ ...draft, isDraft: false }, undefined)).toEqual({
      'plan.startsAt': 'Write a date and time such as 31 Dec 2026, 17:00',
    });
  });
});

describe('the version', () => {
  const known = { existing: ['1.2.3', '1.10.0', '0.9.0'], deleted: [] };
  const none = { existing: [], deleted: [] };
  test('follows the highest of the same platform and channel, by the chosen level', () => {
    expect(withVersion(newRelease, known).version).toBe('1.10.1');
    expect(withVersion({ ...newRelease, bump: 'minor' }, known).version).toBe('1.11.0');
    expect(withVersion({ ...newRelease, bump: 'major' }, known).version).toBe('2.0.0');
    expect(withVersion({ ...newRelease, channel: 'beta' }, none).version).toBe('0.1.0-beta');
    expect(withVersion(newRelease, none).version).toBe('1.0.0');
  });
  test('that is typed stays', () => {
    expect(withVersion({ ...newRelease, bump: null, version: '7.0.0' }, known).version).toBe('7.0.0');
    expect(withVersion({ ...newRelease, bump: null }, known).version).toBe('');
  });
  test('is not known before the others are', () =>
    expect(withVersion(newRelease, undefined).version).toBe(''));
});

test.each([12.9, 250, -3, '1e3'])('a rollout of %j is refused, not put right', (rolloutPercentage) => {
  expect(validate({ ...filled, rolloutPercentage }, undefined)).toEqual({
    rolloutPercentage: 'Must be a whole number from 0 to 100',
  });
});

test('the file at an address is named by its last segment, as the service does', () => {
  expect(fileNameIn(' https://x.example/v1.2/App%2Ezip?a=b ')).toBe('App.zip');
  expect(fileNameIn('https://x.example/v1.2/100%.exe')).toBe('100%.exe');
  expect(fileNameIn('app.exe')).toBeUndefined();
});

test('says who will receive the update', () => {
  expect(reachText(100)).toBe('All users will receive this update');
  expect(reachText(5)).toBe('Approximately 5% of users will receive this update');
  expect(reachText(0)).toBe('Approximately 0% of users will receive this update');
  expect(reachText('')).toBe('Approximately 0% of users will receive this update');
  expect(reachText(250)).toBe('');
});
