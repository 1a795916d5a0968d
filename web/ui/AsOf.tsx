import { ActionIcon, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { IconRefresh } from './icons.tsx';
import { refresh } from './refresh.ts';
import { clockTime } from './time.ts';

type Query = {
  /** Milliseconds since 1970; 0 if nothing has loaded yet. */
  dataUpdatedAt: number;
  isError: boolean;
  isRefetchError: boolean;
};

/** The time of the figures next to it, and a button that reloads all that is shown. */
export function AsOf({ queries }: { queries: readonly Query[] }) {
  const queryClient = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const oldest = Math.min(...queries.map((query) => query.dataUpdatedAt));
  const failed = queries.some((query) => query.isRefetchError);
  const onRefresh = async () => {
    setAsking(true);
    setAsked(true);
    await refresh(queryClient);
    setAsking(false);
  };
  return (
    <Group gap={4} wrap="nowrap">
      {/* empty while it asks, so that another failure is said again */}
      <span className="visually-hidden" aria-live="polite" aria-atomic>
        {isAsked && !isAsking && queries.some((query) => query.isError) && 'Not refreshed'}
      </span>
      <Text size="xs" c={failed ? 'var(--ui-orange-text)' : 'dimmed'} style={{ whiteSpace: 'nowrap' }}>
        {failed && <span aria-hidden>Not refreshed: </span>}
        {/* Invisible but laid out before the first load, so that nothing moves. */}
        <span style={{ visibility: oldest > 0 ? undefined : 'hidden' }}>
          as of <time dateTime={new Date(oldest).toISOString()}>{clockTime(oldest)}</time>
        </span>
      </Text>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-label="Refresh"
        data-hint="Refresh"
        loading={isAsking}
        onClick={() => void onRefresh()}
      >
        <IconRefresh stroke={1.6} />
      </ActionIcon>
    </Group>
  );
}
