import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Replaces the filters while rows are selected: the bulk actions. */
export function SelectionBar(props: { count: number; onClear: () => void; children: ReactNode }) {
  return (
    <Group gap="xs" style={{ flexShrink: 0 }}>
      <Text fw={500} role="status" mr="xs">
        {props.count} selected
      </Text>
      {props.children}
      <Button variant="subtle" onClick={props.onClear}>
        Clear
      </Button>
    </Group>
  );
}
