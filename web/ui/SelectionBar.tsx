import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countText } from './numbers.ts';

/** The number of selected rows, and what can be done with them; it stands beside the search, in the place of the filters. */
export function SelectionBar(props: { count: number; onClear: () => void; children: ReactNode }) {
  return (
    <Group gap="xs" style={{ flexShrink: 0, maxWidth: '100%' }}>
      <Text fw={500} aria-live="polite" aria-atomic mr="xs">
        {countText(props.count)} selected
      </Text>
      {props.children}
      <Button variant="subtle" onClick={props.onClear}>
        Clear
      </Button>
    </Group>
  );
}
