import { Button } from '@mantine/core';

/** In the empty state of a list that a search or filters have narrowed: the way back to the whole list. */
export function ClearSearch({ onClear }: { onClear: () => void }) {
  return (
    <Button variant="default" onClick={onClear}>
      Clear search and filters
    </Button>
  );
}
