import { Checkbox, Stack } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { Column } from './data-table.ts';
import { IconColumns3 } from './icons.tsx';
import { PopoverButton } from './Late.tsx';

/** The visible columns of the table `name`, stored in this browser. False in `atFirst`: hidden by default. */
export const useColumnChoice = (name: string, atFirst: Record<string, boolean>) =>
  useLocalStorage({ key: `columns:${name}`, defaultValue: atFirst, getInitialValueInEffect: false });

/** A button to choose the visible columns. */
export function ColumnChoice<Row>(props: {
  columns: Column<Row>[];
  visibility: Record<string, boolean>;
  onChange: (visibility: Record<string, boolean>) => void;
}) {
  const { columns, visibility, onChange } = props;
  return (
    <PopoverButton label="Columns" icon={<IconColumns3 />} position="bottom-end">
      <Stack gap="xs" role="group" aria-label="Columns shown">
        {columns
          .filter(({ alwaysShown }) => !alwaysShown)
          .map(({ id, header }) => (
            <Checkbox
              key={id}
              label={header}
              checked={visibility[id] !== false}
              onChange={(event) => onChange({ ...visibility, [id]: event.currentTarget.checked })}
            />
          ))}
      </Stack>
    </PopoverButton>
  );
}
