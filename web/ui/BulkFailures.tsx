import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { BoxedList } from './BoxedList.tsx';

/** Names the records to which something could not be done, each with the reason. */
export function BulkFailures(props: {
  /** How many it was done to, and how many not. */
  sentence: string;
  /** What the records are called. */
  label: string;
  failed: readonly { id: string; name: ReactNode; reason: string }[];
  onClose: () => void;
}) {
  return (
    <>
      <Text role="alert">{props.sentence}</Text>
      <BoxedList label={props.label}>
        {props.failed.map(({ id, name, reason }) => (
          <li key={id}>
            {name}
            <Text c="var(--mantine-color-error)">{reason}</Text>
          </li>
        ))}
      </BoxedList>
      <Group justify="flex-end">
        <Button onClick={props.onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </>
  );
}
