import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconColumns3 } from '@tabler/icons-react';
import type { RowData } from '@tanstack/react-table';
import { columnLabel, type Column } from './data-table.ts';

/** The visible columns of the table `name`, stored in this browser. False in `atFirst`: hidden by default. */
export function useColumnChoice(name: string, atFirst: Record<string, boolean> = {}) {
  return useLocalStorage<Record<string, boolean>>({
    key: `columns:${name}`,
    defaultValue: atFirst,
    getInitialValueInEffect: false,
  });
}

/** A button to choose the visible columns; columns without a label (actions) are always visible. */
export function ColumnChoice<T extends RowData>(props: {
  columns: Column<T>[];
  visibility: Record<string, boolean>;
  onChange: (visibility: Record<string, boolean>) => void;
}) {
  const { visibility, onChange } = props;
  const choices = props.columns.filter((column) => column.enableHiding !== false);
  return (
    <Popover position="bottom-end" shadow="md" radius={8} trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={15} stroke={1.75} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm">
        <Stack gap="xs" role="group" aria-label="Columns shown">
          {choices.map((column) => {
            const id = columnId(column);
            return (
              <Checkbox
                key={id}
                label={columnLabel(column)}
                checked={visibility[id] !== false}
                onChange={(event) => onChange({ ...visibility, [id]: event.currentTarget.checked })}
              />
            );
          })}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

const columnId = <T extends RowData>(column: Column<T>): string =>
  column.id ?? ('accessorKey' in column ? String(column.accessorKey) : '');
