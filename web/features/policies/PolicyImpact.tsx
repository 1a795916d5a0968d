import { Stack, Text } from '@mantine/core';
import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { messageOf } from '../../api-error.ts';
import type { PolicyImpact as Impact, UpdatePolicy } from '../../../contract/policies.ts';
import { impactSentences } from './policy-form.ts';

/**
 * Before saving: how many machines would be offered something else. `isSettled`: `query` is about what is typed now, and not
 * still about what was typed before.
 */
export function PolicyImpact<Key extends readonly unknown[]>({
  query,
  policy,
  isSettled,
}: {
  query: UseQueryOptions<Impact, Error, Impact, Key>;
  policy: UpdatePolicy;
  isSettled: boolean;
}) {
  const impact = useQuery(query);
  const said = impact.error
    ? [messageOf(impact.error)]
    : impact.data && isSettled
      ? impactSentences(impact.data, policy)
      : ['Counting the machines that this changes …'];
  return (
    <Stack gap={4} role="status" aria-busy={impact.isFetching || !isSettled}>
      {said.map((sentence, index) => (
        <Text key={sentence} size="sm" c={index === 0 ? '' : 'dimmed'}>
          {sentence}
        </Text>
      ))}
    </Stack>
  );
}
