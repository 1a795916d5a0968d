import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { requireServer } from '../api.ts';
import { headingId } from '../ui/heading-id.ts';

/** Replaces a screen that failed to render (spec part 2, section 8). */
export function ErrorScreen(props: { error: unknown }) {
  const [error, setError] = useState(props.error);
  const message = error instanceof Error && error.message ? error.message : 'An unexpected error occurred';
  return (
    <Center mih="60dvh" p="md" role="alert">
      <Stack align="center" gap="xs" ta="center" maw={520}>
        <img src="/came-off.svg" alt="" />
        <Title order={1} id={headingId}>
          500 - Something went wrong
        </Title>
        <Text c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        <Button mt="sm" onClick={() => void requireServer().then(() => window.location.reload(), setError)}>
          Reload page
        </Button>
      </Stack>
    </Center>
  );
}
