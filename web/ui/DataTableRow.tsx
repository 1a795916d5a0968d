import { Checkbox } from '@mantine/core';
import type { RowData } from '@tanstack/react-table';
import type { MouseEvent, ReactNode, RefObject } from 'react';
import { columnLook, type Column, type DataTableProps, type TableOf } from './data-table.ts';
import classes from './DataTable.module.css';

type Row<T extends RowData> = ReturnType<TableOf<T>['getRowModel']>['rows'][number];

type Cell<T extends RowData> = ReturnType<Row<T>['getVisibleCells']>[number];

/** The items of the body, in order: rows, and the headers of their sections. */
export type Item<T extends RowData> = { key: string } & ({ group: string; rows: T[] } | { row: Row<T> });

export type RowsProps<T extends RowData> = DataTableProps<T> & {
  table: TableOf<T>;
  scroller: RefObject<HTMLDivElement | null>;
};

/** Lets a virtual list measure the height of its rows. */
type Measured = { ref: (row: HTMLTableRowElement | null) => void; 'data-index': number };

export function DataTableRow<T extends RowData>({
  item,
  width,
  measured,
  ...props
}: RowsProps<T> & { item: Item<T>; width: number; measured?: Measured }) {
  if ('group' in item) {
    return (
      <tr {...measured} role="row" className={classes.group}>
        <th colSpan={width} scope="rowgroup" role="rowheader">
          {props.groups?.header(item.group, item.rows)}
        </th>
      </tr>
    );
  }
  const { row } = item;
  const { onOpen } = props;
  return (
    <tr
      {...measured}
      role="row"
      data-selected={row.getIsSelected() || undefined}
      data-opens={onOpen ? true : undefined}
      onClick={onOpen && ((event) => isPlainClick(event) && onOpen(row.original))}
    >
      {props.selection && (
        <td role="cell" className={classes.check}>
          <Checkbox
            aria-label={`Select ${props.rowLabel?.(row.original) ?? row.id}`}
            checked={row.getIsSelected()}
            onChange={row.getToggleSelectedHandler()}
          />
        </td>
      )}
      {row.getVisibleCells().map((cell) => (
        <td key={cell.id} role="cell" {...columnLook(cell.column.columnDef as Column<T>)}>
          {contentOf(cell)}
        </td>
      ))}
    </tr>
  );
}

/**
 * Called instead of rendered as a component: each render of a list creates new columns, and a new component would replace
 * every button in the rows, which would lose the focus.
 */
function contentOf<T extends RowData>(cell: Cell<T>): ReactNode {
  const content = cell.column.columnDef.cell;
  return typeof content === 'function' ? content(cell.getContext()) : content;
}

/** Not on a control in the row, and not the end of a text selection. */
const isPlainClick = (event: MouseEvent<HTMLElement>) =>
  !(event.target as HTMLElement).closest('a, button, input, label') &&
  window.getSelection()?.isCollapsed !== false;
