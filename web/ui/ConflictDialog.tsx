import { Button, Group, Stack, Text } from '@mantine/core';
import type { Column } from './data-table.ts';
import { DataTable } from './DataTable.tsx';
import { Dialog } from './Dialog.tsx';

export type ConflictRow = { field: string; theirs: string; yours: string };

/** From `useEdit`. */
type Edit<Clash> = {
  busy: boolean;
  conflict:
    | {
        clash: Clash;
        /** One of the two is kept whole. */
        isWhole: boolean;
        keepTheirs: () => void;
        saveMine: () => void;
        dismiss: () => void;
      }
    | undefined;
};

/** After concurrent edits of a record: shows both changes, and lets this user decide. */
export function ConflictDialog<Clash>(props: { edit: Edit<Clash>; rowsOf: (clash: Clash) => ConflictRow[] }) {
  const { busy, conflict } = props.edit;
  if (!conflict) return null;
  return (
    <Dialog title="Someone else changed this meanwhile" size={560} sendsForm onClose={conflict.dismiss}>
      <Stack gap="md">
        {/* no button: a second Enter after the save would decide unread */}
        <Text tabIndex={-1} data-autofocus>
          It was saved by someone else after you opened it.{' '}
          {conflict.isWhole
            ? 'These fields depend on each other, so the two versions are not merged. This is where theirs and yours differ.'
            : 'This is what you both changed; the rest of both changes is kept.'}
        </Text>
        <DataTable
          label={conflict.isWhole ? 'Where theirs and yours differ' : 'What you both changed'}
          columns={columns}
          rows={props.rowsOf(conflict.clash)}
          rowId={({ field }) => field}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={conflict.keepTheirs}>
            Keep Theirs
          </Button>
          <Button onClick={conflict.saveMine} loading={busy}>
            Save Mine Anyway
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const whole = { overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' } as const;

const columns: Column<ConflictRow>[] = [
  { id: 'field', header: 'Field', cell: (row) => row.field },
  { id: 'theirs', header: 'Theirs', cell: (row) => <span style={whole}>{row.theirs}</span> },
  { id: 'yours', header: 'Yours', cell: (row) => <span style={whole}>{row.yours}</span> },
];
