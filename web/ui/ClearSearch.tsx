import { Button } from '@mantine/core';

/** For the empty state of a filtered list: a button that clears search and filters. */
export function ClearSearch({ onClear }: { onClear: () => void }) {
  return (
    <Button variant="default" onClick={onClear}>
      Clear search and filters
    </Button>
  );
}
