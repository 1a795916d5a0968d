import { Button, Stack } from '@mantine/core';
import { messageOf } from './api-error.ts';
import { ErrorText } from './ui/ErrorText.tsx';
import { useIsPaper } from './ui/use-is-paper.ts';

type Pages = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => unknown;
};

/** Loads the next page below a timeline, if there is one. */
export function OlderButton({ query }: { query: Pages }) {
  const isPaper = useIsPaper();
  if (!query.hasNextPage) return null;
  if (isPaper) return <p className="dimmed small">Older entries are not printed.</p>;
  return (
    <Stack align="center" gap="xs" mt="sm">
      {query.isFetchNextPageError && <ErrorText>{messageOf(query.error)}</ErrorText>}
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show Older
      </Button>
    </Stack>
  );
}
