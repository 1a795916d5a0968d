import { useQuery } from '@tanstack/react-query';
import type { Release } from '../contract/releases.ts';
import { rollouts } from '../contract/rollouts.ts';
import type { Channel } from '../contract/versions.ts';
import { isSame } from './merge-edits.ts';
import { planValues, suggestedPlan, type PlanValues } from './release-plan.ts';
import { queryOf } from './query-of.ts';

/** The plan that the release forms suggest, for each channel. */
export const rolloutDefaultsQuery = () => queryOf(rollouts.defaults, {}, { staleTime: 5 * 60_000 });

type Planned = { isDraft: boolean; channel: Channel; plan: PlanValues };

/**
 * The default plan of the channel is suggested to a user who publishes (`isOpen`), unless the release has a plan of its
 * own. `suggest`: the plan of the form after Draft or the channel changed; `onChannel`: the same for a new channel,
 * where the suggestion was not changed. While `isLoading` nothing is suggested, so a form must not publish yet.
 */
export function usePlanSuggestion(seen: Pick<Release, 'rolloutPlan' | 'startsAt'>, isOpen: boolean) {
  const { data: defaults, isLoading } = useQuery(rolloutDefaultsQuery());
  const suggest = (isDraft: boolean, channel: Channel): PlanValues => {
    const plan = defaults?.find((one) => one.channel === channel)?.plan;
    return isOpen && !isDraft && seen.rolloutPlan === null && plan
      ? suggestedPlan(plan)
      : planValues(seen, plan);
  };
  const onChannel = ({ isDraft, channel: before, plan }: Planned, channel: Channel) =>
    isSame(plan, suggest(isDraft, before)) ? { channel, plan: suggest(isDraft, channel) } : { channel };
  return { suggest, onChannel, isLoading };
}
