import { Button, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { filtersReplaced } from './filter-chips.ts';
import { cameOff, noMatch, nothingYet } from './pictures.tsx';

/** Why a list is empty, and what to do: nothing is there yet, or, with `onClear`, nothing matches. */
export function EmptyState(props: {
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
  /** Instead of the picture, where something else than records is missing. */
  icon?: ReactNode;
  /** Where search and filters leave nothing: clears them. */
  onClear?: (() => void) | undefined;
}) {
  return (
    <Stack align="center" gap={6} py={56} px="md" ta="center">
      <span aria-hidden style={{ color: 'var(--mantine-color-dimmed)' }}>
        {props.icon ?? (props.onClear ? noMatch : nothingYet)}
      </span>
      {props.title && (
        <Title order={2} fz={14}>
          {props.title}
        </Title>
      )}
      {props.children && (
        <Text c="dimmed" maw={420}>
          {props.children}
        </Text>
      )}
      {(props.action || props.onClear) && (
        <Group gap="xs" mt={10} justify="center">
          {props.action}
          {props.onClear && (
            <Button
              variant="default"
              onClick={() => {
                filtersReplaced();
                props.onClear?.();
              }}
            >
              Clear Search and Filters
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}

/** A message that something could not be loaded, with the reason and a retry button. */
export function ErrorState(props: {
  title: string;
  message?: string;
  /** By which the failure is found in the log of the server. */
  requestId?: string | undefined;
  retryLabel?: string;
  onRetry?: () => void;
}) {
  return (
    <Stack align="center" gap={6} py={56} px="md" ta="center" role="alert">
      {cameOff}
      <Title order={2} fz={14}>
        {props.title}
      </Title>
      {props.message && (
        <Text c="dimmed" maw={520} style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
          {props.message}
        </Text>
      )}
      {props.requestId && (
        <Text c="dimmed" size="xs">
          Request ID:{' '}
          <span className="mono" style={{ userSelect: 'all' }}>
            {props.requestId}
          </span>
          . It leads to the cause in the server log.
        </Text>
      )}
      {props.onRetry && (
        <Button variant="default" mt={10} onClick={props.onRetry}>
          {props.retryLabel ?? 'Retry'}
        </Button>
      )}
    </Stack>
  );
}
