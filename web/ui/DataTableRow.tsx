import { Checkbox } from '@mantine/core';
import { useId, type ChangeEvent, type MouseEvent } from 'react';
import { columnLook, inRem, type DataTableProps } from './data-table.ts';
import classes from './DataTable.module.css';

/** The items of the body, in order: rows, and the headers of their sections. */
export type Item<Row> = { key: string } & ({ group: string; rows: Row[] } | { row: Row });

/** What all rows of a table share. */
export type RowProps<Row> = Pick<
  DataTableProps<Row>,
  'label' | 'columns' | 'selection' | 'rowLabel' | 'groups' | 'onOpen'
> & {
  /** Number of cells. */
  width: number;
  onSelect: (id: string, event: ChangeEvent<HTMLInputElement>) => void;
};

/** Lets a virtual list measure the height of its rows. */
type Measured = {
  ref: (row: HTMLTableRowElement | null) => void;
  'data-index': number;
  'aria-rowindex': number;
};

export function DataTableRow<Row>(props: RowProps<Row> & { item: Item<Row>; measured?: Measured }) {
  const { item, measured, columns, selection, rowLabel, groups, onOpen, width, onSelect } = props;
  const header = useId();
  if ('group' in item) {
    return (
      <tr {...measured} role="row" className={classes.group}>
        <th colSpan={width} scope="rowgroup" role="rowheader">
          <div className={classes.groupLine}>{groups?.header(item.group, item.rows)}</div>
        </th>
      </tr>
    );
  }
  const { key: id, row } = item;
  const isSelected = selection?.has(id) ?? false;
  return (
    <tr
      {...measured}
      role="row"
      data-row={id}
      tabIndex={-1}
      // a row gets the focus: without a name, screen readers say nothing
      aria-label={rowLabel?.(row)}
      aria-labelledby={rowLabel ? undefined : header}
      aria-selected={selection && isSelected}
      data-selected={isSelected || undefined}
      data-opens={onOpen ? true : undefined}
      onClick={onOpen && ((event) => isPlainClick(event) && onOpen(row))}
    >
      {selection && (
        <td role="cell" className={classes.check}>
          <Checkbox
            aria-label={`Select ${rowLabel?.(row) ?? id}`}
            checked={isSelected}
            onChange={(event) => onSelect(id, event)}
          />
        </td>
      )}
      {columns.map((column, index) => (
        <td
          key={column.id}
          id={index === 0 && !rowLabel ? header : undefined}
          // screen readers say it where one moves down a column
          role={index === 0 ? 'rowheader' : 'cell'}
          aria-label={column.name?.(row)}
          {...columnLook(column)}
        >
          {column.least === undefined ? (
            column.cell(row)
          ) : (
            <div className={classes.shrinks} style={{ width: inRem(column.least) }}>
              {column.cell(row)}
            </div>
          )}
        </td>
      ))}
    </tr>
  );
}

/** Not on a control in the row, and not the end of a text selection. */
const isPlainClick = (event: MouseEvent<HTMLElement>) =>
  !(event.target as HTMLElement).closest('a, button, input, label') &&
  window.getSelection()?.isCollapsed !== false;

/** Pixels, where a row has not been measured. */
export const rowHeight = 36;

/** The room of rows that are not rendered. */
export function Gap({ height, width }: { height: number; width: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden className={classes.gap}>
      <td colSpan={width} style={{ height }} />
    </tr>
  );
}
