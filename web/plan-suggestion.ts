import { useQuery } from '@tanstack/react-query';
import type { Release } from '../contract/releases.ts';
import { rollouts } from '../contract/rollouts.ts';
import type { Channel } from '../contract/versions.ts';
import { asReleases } from './as-releases.ts';
import { isSame } from './merge-edits.ts';
import { planValues, suggestedPlan, type PlanValues } from './release-plan.ts';
import { queryOf } from './query-of.ts';

/** The plan that the release forms suggest, for each channel. */
export const rolloutDefaultsQuery = () => queryOf(rollouts.defaults, {}, asReleases);

type Planned = { isDraft: boolean; channel: Channel; plan: PlanValues };

/**
 * The default plan of the channel is suggested to a user who publishes (`isOpen`), unless the release has a plan of its
 * own. `suggest`: what changes in the form with Draft or the channel; its plan where that is still as it was suggested,
 * or, for a draft, as the form began. While `isLoading` nothing is suggested, so a form must not publish yet.
 */
export function usePlanSuggestion(seen: Pick<Release, 'rolloutPlan' | 'startsAt'>, isOpen: boolean) {
  const { data: defaults, isLoading } = useQuery(rolloutDefaultsQuery());
  const suggested = ({ isDraft, channel }: Omit<Planned, 'plan'>): PlanValues => {
    const plan = defaults?.find((one) => one.channel === channel)?.plan;
    return isOpen && !isDraft && seen.rolloutPlan === null && plan
      ? suggestedPlan(plan)
      : planValues(seen, plan);
  };
  const suggest = (before: Planned, change: Partial<Omit<Planned, 'plan'>>): Partial<Planned> => {
    const isUntouched =
      isSame(before.plan, suggested(before)) || (before.isDraft && isSame(before.plan, planValues(seen)));
    return isUntouched ? { ...change, plan: suggested({ ...before, ...change }) } : change;
  };
  return { suggest, isLoading };
}
