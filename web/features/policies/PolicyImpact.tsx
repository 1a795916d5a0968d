import { Stack, Text } from '@mantine/core';
import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { messageOf } from '../../api-error.ts';
import type { PolicyImpact as Impact } from '../../../contract/policies.ts';
import { impactSentences } from './policy-form.ts';

/** Before saving: how many machines would be offered something else. `query` is undefined while a field is invalid. */
export function PolicyImpact<Key extends readonly unknown[]>({
  query,
}: {
  query: UseQueryOptions<Impact, Error, Impact, Key>;
}) {
  const impact = useQuery(query);
  const said = impact.error
    ? [messageOf(impact.error)]
    : impact.data
      ? impactSentences(impact.data)
      : ['Counting the machines that this changes …'];
  return (
    <Stack gap={4} role="status" aria-busy={impact.isFetching}>
      {said.map((sentence, index) => (
        <Text key={sentence} size="sm" c={index === 0 ? '' : 'dimmed'}>
          {sentence}
        </Text>
      ))}
    </Stack>
  );
}
