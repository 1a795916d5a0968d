import { Checkbox } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react';
import { useTable, type RowData } from '@tanstack/react-table';
import { useRef } from 'react';
import classes from './DataTable.module.css';
import { DataTableBody } from './DataTableBody.tsx';
import { columnLook, features, type Column, type DataTableProps, type TableOf } from './data-table.ts';
import { useScrollsOn } from './use-scrolls-on.ts';

export type { Column };

/**
 * Rows in a scrolling card with a sticky header; on a phone each row is a card with labels. The server sorts and pages.
 * The roles are explicit because a table with another CSS display loses them.
 */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, columns, sort, onSort, selection, onSelection } = props;
  const sorting = sort ? [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }] : [];
  const table = useTable<typeof features, any>({
    features,
    columns,
    data: rows ?? none,
    getRowId: props.rowId,
    state: {
      sorting,
      columnVisibility: props.columnVisibility ?? {},
      rowSelection: selection ?? {},
    },
    manualSorting: true,
    enableRowSelection: selection !== undefined,
    onSortingChange: (update) => {
      const [first] = typeof update === 'function' ? update(sorting) : update;
      onSort?.(first && (first.desc ? `-${first.id}` : first.id));
    },
    onRowSelectionChange: (update) =>
      onSelection?.(typeof update === 'function' ? update(selection ?? {}) : update),
  }) as TableOf<T>;

  useScrollsOn(scroller);

  if (rows?.length === 0) return <div className={classes.card}>{props.empty}</div>;
  return (
    <div className={classes.card} ref={scroller} tabIndex={0} role="region" aria-label={props.label}>
      <table
        role="table"
        className={classes.table}
        aria-busy={rows === undefined || props.stale}
        data-stale={props.stale}
      >
        <DataTableHead table={table} selectable={selection !== undefined} />
        <DataTableBody table={table} scroller={scroller} {...props} />
      </table>
    </div>
  );
}

const none: never[] = [];

function DataTableHead<T extends RowData>({ table, selectable }: { table: TableOf<T>; selectable: boolean }) {
  return (
    <thead role="rowgroup">
      {table.getHeaderGroups().map((group) => (
        <tr key={group.id} role="row">
          {selectable && (
            <th className={classes.check} scope="col" role="columnheader">
              <Checkbox
                aria-label="Select all rows"
                disabled={table.getRowModel().rows.length === 0}
                checked={table.getIsAllRowsSelected()}
                indeterminate={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
                onChange={table.getToggleAllRowsSelectedHandler()}
              />
            </th>
          )}
          {group.headers.map((header) => (
            <th
              key={header.id}
              scope="col"
              role="columnheader"
              {...columnLook(header.column.columnDef as Column<T>)}
              aria-sort={ariaSort(header.column.getIsSorted(), canSort(header.column.columnDef as Column<T>))}
            >
              {canSort(header.column.columnDef as Column<T>) ? (
                <button
                  type="button"
                  className={classes.sort}
                  onClick={header.column.getToggleSortingHandler()}
                >
                  <table.FlexRender header={header} />
                  <SortIcon direction={header.column.getIsSorted()} />
                </button>
              ) : (
                <table.FlexRender header={header} />
              )}
            </th>
          ))}
        </tr>
      ))}
    </thead>
  );
}

/** Sorting is opt-in: the server knows only some columns. */
const canSort = <T extends RowData>(column: Column<T>) => column.enableSorting === true;

const ariaSort = (sorted: false | 'asc' | 'desc', sortable: boolean) =>
  sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : sortable ? 'none' : undefined;

function SortIcon({ direction }: { direction: false | 'asc' | 'desc' }) {
  const Icon = direction === 'asc' ? IconArrowUp : direction === 'desc' ? IconArrowDown : IconSelector;
  return <Icon size={13} stroke={1.75} aria-hidden data-idle={!direction || undefined} />;
}
