import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { BoxedList } from './BoxedList.tsx';

/** Lists the records for which a bulk action failed, each with the reason. */
export function BulkFailures(props: {
  /** How many succeeded, and how many failed. */
  sentence: string;
  /** The noun for the records. */
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
