import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { Dialog } from './Dialog.tsx';

export type ConflictRow = { field: string; theirs: string; yours: string };

/** Two people edited the same record: shows what both changed, and lets this person decide. */
export function ConflictDialog(props: {
  rows: readonly ConflictRow[];
  onKeepTheirs: () => void;
  onSaveMine: () => void;
  onClose: () => void;
  busy?: boolean;
}) {
  return (
    <Dialog title="Someone else changed this meanwhile" size={560} onClose={props.onClose}>
      <Stack gap="md">
        <Text>
          It was saved by someone else after you opened it. This is what you both changed; the rest of both
          changes is kept.
        </Text>
        <Table.ScrollContainer minWidth={420}>
          <Table withTableBorder verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Field</Table.Th>
                <Table.Th>Theirs</Table.Th>
                <Table.Th>Yours</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {props.rows.map((row) => (
                <Table.Tr key={row.field}>
                  <Table.Th scope="row">{row.field}</Table.Th>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{row.theirs}</Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{row.yours}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onKeepTheirs} data-autofocus>
            Keep theirs
          </Button>
          <Button onClick={props.onSaveMine} loading={props.busy ?? false}>
            Save mine anyway
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
