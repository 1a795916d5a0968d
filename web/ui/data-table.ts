import {
  columnVisibilityFeature,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  type ColumnDef,
  type ReactTable,
  type RowData,
  type RowSelectionState,
} from '@tanstack/react-table';
import type { ReactNode } from 'react';

export const features = tableFeatures({ rowSortingFeature, columnVisibilityFeature, rowSelectionFeature });

/**
 * A column. `meta.label` is its name in the column choice if its header is not text. `meta.pinned` keeps it visible at the
 * right while the others scroll. With `enableSorting`, the server sorts by its id. The column `actions` has the buttons of
 * a row.
 */
export type Column<T extends RowData> = ColumnDef<typeof features, T, any> & {
  meta?: {
    label?: string;
    align?: 'right';
    width?: number | string;
    pinned?: boolean;
  };
};
export type TableOf<T extends RowData> = ReactTable<typeof features, T>;

export type DataTableProps<T extends RowData> = {
  /** Accessible name of the table. */
  label: string;
  columns: Column<T>[];
  /** Undefined during the first load, which shows skeleton rows. */
  rows: T[] | undefined;
  rowId: (row: T) => string;
  /** `name`, or `-name` for descending. */
  sort?: string | undefined;
  onSort?: (sort: string | undefined) => void;
  /** See `useColumnChoice`. */
  columnVisibility?: Record<string, boolean>;
  selection?: RowSelectionState;
  onSelection?: (selection: RowSelectionState) => void;
  /** Name of a row, for the label of its checkbox. */
  rowLabel?: (row: T) => string;
  /** Groups rows into sections with a header row; the rows must be sorted by section. */
  groups?: {
    of: (row: T) => string;
    header: (group: string, rows: T[]) => ReactNode;
    isCollapsed: (group: string) => boolean;
  };
  /** Called for a click on a row outside its controls; a control in the row must do the same, for the keyboard. */
  onOpen?: (row: T) => void;
  /** New rows are loading; the current ones are dimmed. */
  stale?: boolean;
  /** Shown if there are no rows. */
  empty?: ReactNode;
};

/** The name of a column outside its header. */
export const columnLabel = <T extends RowData>({ meta, header, id }: Column<T>): string =>
  meta?.label ?? (typeof header === 'string' ? header : (id ?? ''));

/** Attributes of a cell: width, alignment and position of its column, and its label in a card. */
export const columnLook = <T extends RowData>(column: Column<T>) => ({
  style: {
    width: column.meta?.width,
    textAlign: column.meta?.align,
    fontVariantNumeric: column.meta?.align === 'right' ? 'tabular-nums' : undefined,
  },
  'data-pinned': column.meta?.pinned,
  'data-label': column.id === 'actions' ? undefined : columnLabel(column),
});
