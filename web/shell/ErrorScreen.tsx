import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { headingId } from '../ui/heading-id.ts';

/** Replaces a screen that failed to render (spec part 2, section 8). */
export function ErrorScreen({ error }: { error: unknown }) {
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
        <Button mt="sm" onClick={() => window.location.reload()}>
          Reload page
        </Button>
      </Stack>
    </Center>
  );
}
