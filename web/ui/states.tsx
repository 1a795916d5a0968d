import { Button, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { IconAlertCircle, IconInbox } from './icons.tsx';

/** A message for an empty list, with an action. */
export function EmptyState(props: {
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
  icon?: ReactNode;
}) {
  return (
    <Stack align="center" gap={6} py={56} px="md" ta="center">
      <span aria-hidden style={{ color: 'var(--mantine-color-dimmed)' }}>
        {props.icon ?? <IconInbox size={28} stroke={1.25} />}
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
      {props.action && <div style={{ marginTop: 10 }}>{props.action}</div>}
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
      <IconAlertCircle size={28} stroke={1.25} color="var(--mantine-color-error)" />
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
