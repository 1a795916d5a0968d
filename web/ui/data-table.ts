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
 * A column. `meta.label` names it in the column choice when its header is not text; `meta.align` and `meta.width`
 * style it. One that is `meta.pinned` stays in sight at the right while the others scroll. It can be sorted when
 * `enableSorting` is true; its id is then what the server sorts by. The column `actions` holds the buttons of a row.
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
  /** Names the table for those who do not see it. */
  label: string;
  columns: Column<T>[];
  /** Undefined while the first load is under way: skeleton rows stand in. */
  rows: T[] | undefined;
  rowId: (row: T) => string;
  /** `name`, or `-name` for descending. */
  sort?: string | undefined;
  onSort?: (sort: string | undefined) => void;
  /** See `useColumnChoice`. */
  columnVisibility?: Record<string, boolean>;
  selection?: RowSelectionState;
  onSelection?: (selection: RowSelectionState) => void;
  /** Names a row for its checkbox. */
  rowLabel?: (row: T) => string;
  /** Rows in sections that belong together, each under a header row; rows must come sorted by section. */
  groups?: {
    of: (row: T) => string;
    header: (group: string, rows: T[]) => ReactNode;
    isCollapsed: (group: string) => boolean;
  };
  /** Runs for a click on a row beside its controls; a control in the row must do the same, for the keyboard. */
  onOpen?: (row: T) => void;
  /** New rows are on their way; the present ones are dimmed. */
  stale?: boolean;
  /** Shown instead of rows when there are none. */
  empty?: ReactNode;
};

/** What a column is called outside its header. */
export const columnLabel = <T extends RowData>({ meta, header, id }: Column<T>): string =>
  meta?.label ?? (typeof header === 'string' ? header : (id ?? ''));

/** Attributes of a cell for the width, alignment and place that its column asks for, and its label in a card. */
export const columnLook = <T extends RowData>(column: Column<T>) => ({
  style: {
    width: column.meta?.width,
    textAlign: column.meta?.align,
    fontVariantNumeric: column.meta?.align === 'right' ? 'tabular-nums' : undefined,
  },
  'data-pinned': column.meta?.pinned,
  'data-label': column.id === 'actions' ? undefined : columnLabel(column),
});
