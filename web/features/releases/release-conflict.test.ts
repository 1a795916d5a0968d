import { expect, test } from 'vitest';
import type { Release } from '../../../contract/releases.ts';
import { ApiError } from '../../api-error.ts';
import { mergeEdits } from '../../merge-edits.ts';
import { conflictRows, rolloutConflict, withRollout } from './release-conflict.ts';
import { storedRollout, type Rollout } from './release-form.ts';
import { planOf } from '../../../tests/plan-of.ts';

const conflict = new ApiError(409, 'Changed', {
  code: 'EDIT_CONFLICT',
  details: [
    { path: 'isDraft', message: 'differs', current: false, yours: true },
    { path: 'releaseNotes', message: 'differs', current: 'Fixes', yours: null },
    {
      path: 'acceptableFailures',
      message: 'differs',
      current: 2.5,
      yours: null,
    },
    { path: 'updatedAt', message: 'version', current: '2026-11-20T09:00:00.000Z', yours: 'older' },
  ],
});

test('shows what differs in words', () => {
  expect(conflictRows(conflict)).toEqual([
    { field: 'Draft Release', theirs: 'No', yours: 'Yes' },
    { field: 'Release Notes', theirs: 'Fixes', yours: '—' },
    { field: 'Acceptable failures', theirs: '2.5 %', yours: 'As the previous release' },
  ]);
});

const at = '2026-11-20T09:00:00.000Z';
const plan = planOf([5, 24], [100]);
const stored = {
  isDraft: false,
  rolloutPercentage: 5,
  rolloutPlan: plan,
  startsAt: null,
  updatedAt: at,
} as Release;
const planned = { rolloutPlan: plan, startsAt: null };

test('a rollout is one value: steps of a colleague are in conflict with a percentage, whatever they begin with', () => {
  const seen = { rollout: { rolloutPercentage: 5 } };
  const found = rolloutConflict(seen, stored, { rolloutPercentage: 50 })!;
  expect(conflictRows(found)).toEqual([
    { field: 'Rollout', theirs: 'In steps: 5 % for 24 h, 100 %', yours: '50 %' },
  ]);
  expect(mergeEdits(seen, found.details).clashes).toHaveLength(1);
  expect(rolloutConflict({ rollout: planned }, stored, { rolloutPercentage: 50 })).toBeUndefined();
  const moved = { ...stored, startsAt: '2026-11-27T09:00:00.000Z' };
  const otherSteps = { rolloutPlan: [{ percentage: 2, hours: null }], startsAt: null };
  expect(rolloutConflict({ rollout: planned }, moved, otherSteps)?.details).toHaveLength(2);
});

test('a conflict of the other fields carries the rollout, so that one of the user is not taken for stored', () => {
  const paths = (rollout: Rollout) => withRollout(conflict, stored, rollout).details.map(({ path }) => path);
  expect(paths({ rolloutPercentage: 50 })).toContain('rollout');
  expect(paths(planned)).not.toContain('rollout');
});

test('two users publish a draft: a rollout that it had before is one that was chosen now', () => {
  const yours = { rolloutPercentage: 100 };
  const draft = { ...stored, isDraft: true, rolloutPlan: null, ...yours };
  const clashes = (theirs: Release) =>
    mergeEdits({ ...draft, rollout: storedRollout(draft) }, withRollout(conflict, theirs, yours).details)
      .clashes;
  expect(clashes(stored).map(({ path }) => path)).toContain('rollout');
  expect(clashes(draft).map(({ path }) => path)).not.toContain('rollout');
});
