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
 * style it. It can be sorted when `enableSorting` is true; its id is then what the server sorts by.
 */
export type Column<T extends RowData> = ColumnDef<typeof features, T, any> & {
  meta?: { label?: string; align?: 'right'; width?: number | string };
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

/** Width and alignment that a column asks for. */
export const columnStyle = <T extends RowData>(column: Column<T>) => ({
  width: column.meta?.width,
  textAlign: column.meta?.align,
});
