import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Release } from '../../../contract/releases.ts';
import { mergedAttempt } from '../../edit-conflict.ts';
import { isSame } from '../../merge-edits.ts';
import { planErrors, planSummary } from '../../release-plan.ts';
import { conflictRows, ofVersion, withRollout } from './release-conflict.ts';
import {
  changesOffer,
  chosenRollout,
  lacksRollout,
  lockedFor,
  payloadOf,
  percentageToChoose,
  reachAfter,
  restartsDeferrals,
  rolloutText,
  sawWith,
  storedRollout,
  valuesOf,
  type ReleaseValues,
  type Rollout,
} from './release-form.ts';
import { planOf } from '../../../tests/plan-of.ts';

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
  failuresClaimedAt: null,
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
  rolloutPlan: null,
  startsAt: null,
  stepTaken: null,
  stepStartedAt: null,
  createdAt: '2026-11-20T09:00:00.000Z',
  updatedAt: '2026-11-20T09:00:00.000Z',
};
const values = valuesOf(release);
const steps = planOf([1, 24], [10, 50], [100]);
const inSteps = valuesOf({ ...release, rolloutPlan: steps });

/** Whether the edit of a form is confirmed, without an edit of a colleague. */
const isAsked = (edited: ReleaseValues, seen: Release) => {
  const edit = { ...payloadOf(edited), rollout: chosenRollout(edited) };
  const { widens, isTyped } = reachAfter(edit, seen);
  return widens && !isTyped;
};

test.each([
  [{}, false],
  [{ rolloutPercentage: 99 }, true],
  [{ plan: { ...inSteps.plan, inSteps: true } }, false],
  [{ channel: 'stable' }, true],
  [{ isActive: false }, true],
  [{ isDraft: true }, true],
  [{ releaseNotes: 'Faster' }, false],
] as const)('the form says whether deferrals begin again: %j', (change, expected) => {
  const full: Release = { ...release, rolloutPercentage: 100, fullAt: release.releaseDate };
  expect(restartsDeferrals({ ...valuesOf(full), ...change }, full)).toBe(expected);
  expect(restartsDeferrals({ ...values, ...change }, release)).toBe(false);
});

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
  [
    'moving to a wider channel with a smaller share',
    { channel: 'beta', rolloutPercentage: 40 },
    { channel: 'stable', rolloutPercentage: 20 },
    true,
  ],
  [
    'activating with a share that was chosen',
    { isActive: false, rolloutPercentage: 40 },
    { isActive: true, rolloutPercentage: 20 },
    false,
  ],
  [
    'moving to a narrower channel with a larger share',
    { channel: 'stable', rolloutPercentage: 20 },
    { channel: 'beta', rolloutPercentage: 40 },
    false,
  ],
  ['lowering the minimum version', { minimumAppVersion: '1.1.0' }, { minimumAppVersion: '1.0.0' }, true],
  ['dropping the minimum version', { minimumAppVersion: '1.1.0' }, { minimumAppVersion: '' }, true],
  ['raising the minimum version', { minimumAppVersion: '1.1.0' }, { minimumAppVersion: '1.2.0' }, false],
  [
    'dropping the minimum version of what is inactive',
    { minimumAppVersion: '1.1.0', isActive: false },
    { minimumAppVersion: '', isActive: false },
    false,
  ],
  ['notes alone', { rolloutPercentage: 100 }, { rolloutPercentage: 100 }, false],
  [
    'widening what is paused',
    { pausedAt: '2026-11-20T09:00:00.000Z', rolloutPercentage: 40 },
    { rolloutPercentage: 100 },
    false,
  ],
] as const)('whether %s asks for confirmation: %#', (_, seen, change, confirmed) => {
  expect(isAsked({ ...values, ...change }, { ...release, ...seen })).toBe(confirmed);
});

test.each([
  ['publishes', { isDraft: true }, { isDraft: false }, true],
  [
    'publishes what nobody would be offered',
    { isDraft: true, rolloutPercentage: 0 },
    { isDraft: false },
    true,
  ],
  ['activates', { isActive: false }, { isActive: true }, true],
  ['moves to a wider channel', {}, { channel: 'stable' }, true],
  ['makes it mandatory', { isMandatory: false }, { isMandatory: true }, true],
  ['lowers the minimum version', { minimumAppVersion: '1.1.0' }, { minimumAppVersion: '1.0.0' }, true],
  ['corrects notes', { releaseNotes: null }, { releaseNotes: 'Faster' }, false],
  ['changes the percentage alone', {}, { rolloutPercentage: 7 }, false],
] as const)('a changed rollout goes with an edit that %s: %#', (_, was, change, expected) => {
  const stored = { ...release, ...was };
  expect(changesOffer(payloadOf({ ...valuesOf(stored), ...change }), stored)).toBe(expected);
});

/** The edit of a form as it is sent first, and merged with what a colleague has stored. */
function sentTwice(edited: ReleaseValues, seen: Release, stored: Release) {
  const fields = payloadOf(edited);
  const first = { ...fields, rollout: chosenRollout(edited) };
  const details = Object.entries(fields).map(([path, yours]) => ({
    path,
    message: 'Was changed',
    current: stored[path as keyof Release],
    yours,
  }));
  const conflict = withRollout({ details: [...details, ofVersion(stored)] }, stored, first.rollout);
  const base = { ...seen, rollout: storedRollout(seen) };
  return [first, mergedAttempt(conflict, { payload: first, base, round: 0 })!.attempt.payload] as const;
}

const alpha = { channel: 'alpha', rolloutPercentage: 5 } as const;
const unpublished = { channel: 'alpha', isDraft: true, isMandatory: false, rolloutPercentage: 100 } as const;
const paused = { ...alpha, pausedAt: '2026-11-20T09:00:00.000Z' };
test.each([
  [
    'everyone, of what a colleague resumes',
    [paused, { rolloutPercentage: 100 }, { pausedAt: null }],
    { channel: 'alpha', rolloutPercentage: 100 },
  ],
  [
    'a security update, of a draft that a colleague publishes',
    [unpublished, { security: true }, { isDraft: false, rolloutPercentage: 5 }],
    { security: true, rolloutPercentage: 5 },
  ],
  [
    'a wider channel, of what a colleague resumes',
    [paused, { channel: 'stable' }, { pausedAt: null }],
    { channel: 'stable', rolloutPercentage: 5 },
  ],
  [
    'a wider channel, of a draft that a colleague publishes',
    [unpublished, { channel: 'stable' }, { isDraft: false }],
    { channel: 'stable', rolloutPercentage: 100 },
  ],
  [
    'published, of a draft that a colleague marks as a security update',
    [unpublished, { isDraft: false, rolloutPercentage: 25 }, { security: true }],
    { security: true, rolloutPercentage: 25 },
  ],
  [
    'published, of a draft that a colleague moves to a wider channel',
    [unpublished, { isDraft: false, rolloutPercentage: 25 }, { channel: 'stable' }],
    { channel: 'stable', rolloutPercentage: 25 },
  ],
  [
    'a security update, of a release that a colleague rolls out to everyone',
    [alpha, { security: true }, { rolloutPercentage: 100 }],
    { security: true, rolloutPercentage: 100 },
  ],
  [
    'a security update, of a release that a colleague moves to a wider channel',
    [alpha, { security: true }, { channel: 'stable' }],
    { security: true, channel: 'stable', rolloutPercentage: 5 },
  ],
  [
    'a wider channel, of what a colleague resumes, in steps',
    [paused, { channel: 'stable' }, { pausedAt: null, rolloutPlan: planOf([5, 24], [100]) }],
    { channel: 'stable', rolloutPercentage: 5, rolloutPlan: planOf([5, 24], [100]) },
  ],
  [
    'a security update, of a release that a colleague rolls out in steps',
    [alpha, { security: true }, { rolloutPlan: planOf([5, 24], [100]) }],
    { security: true, rolloutPlan: planOf([5, 24], [100]) },
  ],
  [
    'steps, of a release that a colleague moves to a wider channel',
    [alpha, { plan: inSteps.plan }, { channel: 'stable' }],
    { channel: 'stable', rolloutPercentage: 5, rolloutPlan: steps },
  ],
  [
    'steps, of a release that a colleague makes a security update',
    [alpha, { plan: inSteps.plan }, { security: true }],
    { security: true, rolloutPlan: steps },
  ],
  [
    'notes, of a release that a colleague makes a security update',
    [alpha, { releaseNotes: 'Faster' }, { security: true }],
    undefined,
  ],
  [
    'a security update in steps',
    [alpha, { plan: inSteps.plan, security: true }, { releaseNotes: 'Faster' }],
    undefined,
  ],
  [
    'a security update, of a release whose steps led to everyone before',
    [{ ...alpha, rolloutPlan: planOf([5, 24], [100]) }, { security: true }, {}],
    undefined,
  ],
  [
    'a security update, of a release that a colleague rolls out to fewer',
    [alpha, { security: true }, { rolloutPercentage: 1 }],
    undefined,
  ],
] as const)(
  'two edits together ask before they reach more than one of the two saw: %s',
  (_, edits, asked) => {
    const [before, mine, theirs] = edits;
    const seen = { ...release, ...before };
    const stored = { ...seen, ...theirs, updatedAt: '2026-11-20T09:01:00.000Z' };
    const edited = { ...valuesOf(seen), ...mine };
    const [first, merged] = sentTwice(edited, seen, stored);
    expect(isAsked(edited, seen)).toBe(false);
    const { reach, widens } = reachAfter(merged, stored, sawWith(seen, first));
    expect(widens && !isSame(reach, reachAfter(first, seen).reach) ? reach : undefined).toEqual(
      asked && expect.objectContaining(asked),
    );
  },
);

test('a rollout that is set on what a colleague makes a draft is one of two, an unchanged one is dropped', () => {
  const stored = { ...release, isDraft: true, isMandatory: false, updatedAt: '2026-11-20T09:01:00.000Z' };
  const merge = (yours: Rollout) => {
    const conflict = withRollout({ details: [ofVersion(stored)] }, stored, yours);
    const payload = { ...payloadOf(values), rollout: yours };
    const base = { ...release, rollout: storedRollout(release) };
    return mergedAttempt(conflict, { payload, base, round: 0 })!;
  };
  expect(conflictRows(merge({ rolloutPercentage: 60 }).clash!)).toEqual([
    { field: 'Rollout', theirs: 'None, a draft', yours: '60 %' },
  ]);
  expect(merge({ rolloutPercentage: 5 })).toMatchObject({
    clash: undefined,
    attempt: { payload: { rollout: undefined } },
  });
});

test('a rollout is a percentage, or steps; a draft has none', () => {
  expect(chosenRollout(values)).toEqual({ rolloutPercentage: 5 });
  expect(chosenRollout(inSteps)).toEqual({ rolloutPlan: steps, startsAt: null });
  expect(chosenRollout({ ...inSteps, isDraft: true })).toBeUndefined();
  expect(storedRollout({ ...release, isDraft: true })).toBeUndefined();
  // the form knows no milliseconds
  const startsAt = '2026-11-20T09:00:30.500Z';
  expect(storedRollout({ ...release, rolloutPlan: steps, startsAt })).toEqual({
    rolloutPlan: steps,
    startsAt: '2026-11-20T09:00:30.000Z',
  });
  // the last moment that can be typed lies in the year 10000 in UTC
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  const last = { ...inSteps.plan, startsAt: '9999-12-31T23:59' };
  expect(chosenRollout({ ...inSteps, plan: last })).toMatchObject({ startsAt: '9999-12-31T23:59:59.999Z' });
});

describe('a rollout in steps', () => {
  test('asks before it reaches all at once, or at its start, not before its first step', () => {
    const draft = { ...release, isDraft: true, rolloutPercentage: 100 };
    const publish = { ...inSteps, isDraft: false };
    expect(isAsked(publish, draft)).toBe(false);
    const all = { ...publish.plan, steps: [{ percentage: 100, hours: 24 }] };
    expect(isAsked({ ...publish, plan: all }, draft)).toBe(true);
    const later = { ...all, startsAt: '2999-01-01T08:00' };
    expect(isAsked({ ...publish, plan: later }, draft)).toBe(true);
    expect(isAsked({ ...values, plan: later }, release)).toBe(true);
    const waiting = {
      ...release,
      rolloutPercentage: 0,
      rolloutPlan: steps,
      startsAt: '2999-01-01T08:00:00.000Z',
    };
    expect(isAsked({ ...valuesOf(waiting), releaseNotes: 'Faster' }, waiting)).toBe(false);
    // a form knows no milliseconds
    const exact = { ...waiting, startsAt: '2999-01-01T08:00:00.345Z' };
    expect(isAsked({ ...valuesOf(exact), releaseNotes: 'Faster' }, exact)).toBe(false);
    // what waits for its start, once that comes earlier or goes
    const whole = { ...waiting, rolloutPlan: planOf([100]) };
    const plan = valuesOf(whole).plan;
    for (const [change, asked] of [
      [{ plan: { ...plan, startsAt: '' } }, true],
      [{ plan: { ...plan, startsAt: '2998-01-01T08:00' } }, true],
      [{ plan: { ...plan, startsAt: '2999-02-01T08:00' } }, false],
      [{ plan: { ...plan, inSteps: false }, rolloutPercentage: 100 }, true],
      [{ plan: { ...plan, inSteps: false }, rolloutPercentage: 0 }, false],
    ] as const)
      expect(isAsked({ ...valuesOf(whole), ...change }, whole), JSON.stringify(change)).toBe(asked);
    const wider = { ...valuesOf(waiting), channel: 'stable' } as const;
    expect(reachAfter({ ...payloadOf(wider), rollout: chosenRollout(wider) }, waiting)).toMatchObject({
      reach: { rolloutPercentage: 1, rolloutPlan: steps, startsAt: waiting.startsAt },
      widens: true,
      isTyped: false,
    });
  });

  test('keeps half-typed input, and says where', () => {
    const typed = [
      { percentage: '1 %x', hours: '' },
      { percentage: 1, hours: 3 },
      { percentage: 1, hours: '' },
    ];
    expect(planErrors({ inSteps: true, steps: typed, startsAt: 'tomorrow' })).toEqual({
      'plan.steps.0.percentage': 'Must be a whole number from 1 to 100',
      'plan.steps.0.hours': 'Must be a whole number from 1 to 2160',
      'plan.startsAt': 'Write a date and time such as 31 Dec 2026, 17:00',
    });
    const narrower = [typed[1]!, typed[2]!];
    expect(planErrors({ inSteps: true, steps: narrower, startsAt: '' })).toEqual({
      'plan.steps.1.percentage': 'Must be more than in the step before',
    });
    expect(planErrors({ inSteps: false, steps: typed, startsAt: '' })).toEqual({});
    const past = { inSteps: true, steps: [{ percentage: 5, hours: 24 }], startsAt: '2025-11-20T08:00' };
    expect(planErrors(past)).toEqual({
      'plan.startsAt': 'Lies in the past: leave it empty to start at once',
    });
    expect(planErrors(past, past.startsAt)).toEqual({});
    expect(planSummary({ inSteps: true, steps: typed, startsAt: '' })).toBeUndefined();
  });

  test('says how long it takes', () => {
    expect(planSummary(inSteps.plan)).toBe(
      '1 % for 24 h, 10 % for 50 h, 100 %. Reaches 100 % after 3 days 2 h, while updates do not fail.',
    );
    expect(planSummary(inSteps.plan, 'From 10 %.')).toBe('1 % for 24 h, 10 % for 50 h, 100 %. From 10 %.');
  });
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
])('a user who may not publish cannot bring %o to machines or change its terms: %o', (seen, locked) => {
  expect(lockedFor(seen, false)).toEqual(locked);
  expect(Object.values(lockedFor(seen, true))).toEqual([false, false, false]);
});
