import type { FailureComparison } from '../../../contract/guard.ts';
import type { rollouts } from '../../../contract/rollouts.ts';
import type { RouteInput } from '../../../contract/route.ts';
import type { Db } from '../../db/client.ts';
import { previousRelease } from './guard-counts.ts';
import { barOf, percentOf } from './guard.ts';

/** What the guard compares the installs of a build with, whether the build is a release yet or not. */
export async function failureComparison(
  db: Db,
  { fileKind, ...build }: RouteInput<typeof rollouts.failureComparison>['query'],
): Promise<FailureComparison> {
  const previous = await previousRelease(db, { ...build, file_kind: fileKind });
  const { acceptable, acceptableFrom } = barOf(null, previous);
  return { acceptable: percentOf(acceptable), acceptableFrom, previous };
}
