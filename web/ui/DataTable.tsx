import { Checkbox } from '@mantine/core';
import { useRef, useState } from 'react';
import classes from './DataTable.module.css';
import { DataTableBody, itemsOf } from './DataTableBody.tsx';
import {
  actionsColumn,
  columnLook,
  directionOf,
  nextSort,
  withSelected,
  type DataTableProps,
} from './data-table.ts';
import { LazyDialogs } from './LazyDialogs.tsx';
import { IconArrowDown, IconArrowUp, IconSelector } from './icons.tsx';
import { lazyPart } from './lazy-part.ts';
import { inOrder, type RowActionList } from './row-actions.ts';
import { RowActions } from './RowActions.tsx';
import { rememberRow } from './row-back.ts';
import { rememberFocus } from './row-focus.ts';
import { createStore } from './store.ts';
import { useListKeys } from './use-list-keys.ts';
import { useScrollsOn } from './use-scrolls-on.ts';

const SidePanel = lazyPart(() => import('./SidePanel.tsx'));

/**
 * Rows in a scrolling card with a sticky header; on a phone each row is a card with labels. The server sorts and pages.
 * The roles are explicit because a table with another CSS display loses them.
 */
export function DataTable<Row>(given: DataTableProps<Row>) {
  const [peeked, setPeeked] = useState<string>();
  const { label } = given;
  const onPeek = (id: string) => {
    setPeeked(id);
    rememberRow(label, id);
  };
  const onFocus = () => {
    const id = scroller.current && rememberFocus(scroller.current);
    if (id) rememberRow(label, id);
  };
  const props = withPeek(given, onPeek);
  const scroller = useRef<HTMLDivElement>(null);
  useScrollsOn(scroller);
  const [menu] = useState(() => createStore<string | undefined>(undefined));
  const onKeyDown = useListKeys(scroller, props, menu.set);
  const { rows, columnVisibility, actions } = props;
  const columns = props.columns.filter(({ id }) => columnVisibility?.[id] !== false);
  if (actions) {
    columns.push(
      actionsColumn((row) => (
        <RowActions
          id={props.rowId(row)}
          name={props.rowLabel?.(row) ?? 'the row'}
          actions={inOrder(actions(row))}
          note={props.rowNote?.(row)}
          menu={menu}
        />
      )),
    );
  }
  const items = rows && itemsOf({ ...props, rows });
  const shown = (rows ?? []).filter((row) => !props.groups?.isCollapsed(props.groups.of(row)));
  const beside = shown.find((row) => props.rowId(row) === peeked);
  // gone with its row, which may no longer match the filters: it would open again by itself when that comes back
  if (peeked !== undefined && !beside) setPeeked(undefined);
  if (rows?.length === 0) return <div className={classes.card}>{props.empty}</div>;
  return (
    <>
      <div
        className={classes.card}
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={label}
        data-scroll-restoration-id={label}
        onKeyDown={onKeyDown}
        onFocus={onFocus}
      >
        <table
          role="table"
          className={classes.table}
          // those out of view may not be rendered
          aria-rowcount={items && items.length + 1}
          aria-busy={rows === undefined || props.stale}
          data-stale={props.stale}
          data-dense={props.dense || undefined}
        >
          <DataTableHead {...props} columns={columns} />
          <DataTableBody {...props} columns={columns} items={items} scroller={scroller} />
        </table>
      </div>
      {props.peek && peeked !== undefined && beside && (
        <LazyDialogs>
          <SidePanel
            title={props.peek.title}
            name={props.rowLabel?.(beside)}
            to={props.peek.to(beside)}
            ids={shown.map(props.rowId)}
            id={peeked}
            onMove={onPeek}
            onClose={() => setPeeked(undefined)}
          >
            {props.peek.content(beside)}
          </SidePanel>
        </LazyDialogs>
      )}
    </>
  );
}

/** With Peek among the actions of each row. */
function withPeek<Row>(props: DataTableProps<Row>, onPeek: (id: string) => void): DataTableProps<Row> {
  const { peek, actions, rowId } = props;
  if (!peek) return props;
  return {
    ...props,
    actions: (row): RowActionList => [
      ...(actions?.(row) ?? []),
      { label: 'Peek', key: 'Space', run: () => onPeek(rowId(row)) },
    ],
  };
}

function DataTableHead<Row>(props: DataTableProps<Row>) {
  const { columns, rows = [], sort, onSort, selection } = props;
  const ids = rows.map(props.rowId);
  const isAllSelected = ids.length > 0 && ids.every((id) => selection?.has(id));
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        {selection && (
          <th className={classes.check} scope="col" role="columnheader">
            <Checkbox
              aria-label="Select all rows"
              disabled={ids.length === 0}
              checked={isAllSelected}
              indeterminate={selection.size > 0 && !isAllSelected}
              onChange={() => props.onSelection?.(withSelected(selection, ids, !isAllSelected))}
            />
          </th>
        )}
        {columns.map((column) => {
          const { id, header, firstSort } = column;
          const direction = directionOf(id, sort);
          const ariaSort = direction ? (`${direction}ending` as const) : firstSort && 'none';
          return (
            <th key={id} scope="col" role="columnheader" {...columnLook(column)} aria-sort={ariaSort}>
              {firstSort ? (
                <button
                  type="button"
                  className={classes.sort}
                  onClick={() => onSort?.(nextSort(column, sort))}
                >
                  {header}
                  <SortIcon direction={direction} />
                </button>
              ) : (
                header
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function SortIcon({ direction }: { direction: 'asc' | 'desc' | undefined }) {
  const Icon = direction === 'asc' ? IconArrowUp : direction === 'desc' ? IconArrowDown : IconSelector;
  return <Icon size={13} data-idle={!direction || undefined} />;
}
