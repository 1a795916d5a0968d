import type { ReactNode } from 'react';
import { countText } from './numbers.ts';
import type { RowActionList } from './row-actions.ts';

/** A column of a list, and its cell in a row. */
export type Column<Row> = {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** What screen readers say instead of the cell: only where all of it is in this name. */
  name?: (row: Row) => string;
  /** The service can sort by `id`; a first click on the header sorts in this direction. */
  firstSort?: 'asc' | 'desc';
  /** Not offered in the column choice. */
  alwaysShown?: true;
  align?: 'right';
  /** A number as that of `least`. */
  width?: number | string;
  /** In pixels at the usual font size: what the column shows is cut down to this width before the list scrolls sideways. */
  least?: number;
  /** Stays visible at the right while the others scroll. */
  pinned?: true;
};

/** A column with the number that a row has at `id`. */
export const countColumn = <Id extends string>(
  id: Id,
  header: string,
  width: number,
): Column<Record<Id, number>> => ({ id, header, align: 'right', width, cell: (row) => countText(row[id]) });

const actionsId = 'actions';

/** The last column: the buttons and the menu of a row. */
export const actionsColumn = <Row>(cell: Column<Row>['cell']): Column<Row> => ({
  id: actionsId,
  header: 'Actions',
  cell,
  alwaysShown: true,
  width: 1,
  pinned: true,
});

/** Ids of the selected rows. */
export type Selection = ReadonlySet<string>;

export type DataTableProps<Row> = {
  /** Accessible name of the table. */
  label: string;
  columns: Column<Row>[];
  /** Undefined during the first load, which shows skeleton rows. */
  rows: readonly Row[] | undefined;
  rowId: (row: Row) => string;
  /** `name`, or `-name` for descending. */
  sort?: string | undefined;
  onSort?: (sort: string | undefined) => void;
  /** See `useColumnChoice`. */
  columnVisibility?: Record<string, boolean>;
  /** Undefined where rows cannot be selected. */
  selection?: Selection | undefined;
  onSelection?: (selection: Selection) => void;
  /** Name of a row, for the row itself, its checkbox and its menu. */
  rowLabel?: (row: Row) => string;
  /** What can be done with a row: its buttons, its menu and its keys. Undefined where nothing can be done. */
  actions?: ((row: Row) => RowActionList) | undefined;
  /** Why a row has fewer buttons than others, in place of those. */
  rowNote?: (row: Row) => string | null;
  /** What a row shows beside the list, without its page: an action of each row. */
  peek?: Peek<Row>;
  /** Groups rows into sections with a header row; the rows must be sorted by section. */
  groups?: Groups<Row> | undefined;
  /** Called for a click on a row outside its controls; a control in the row must do the same, for the keyboard. */
  onOpen?: (row: Row) => void;
  /** Whether it has more columns than fit on a laptop with the buttons of a row, which are in its menu alone there. */
  dense?: boolean;
  /** New rows are loading; the current ones are dimmed. */
  stale?: boolean;
  /** Shown if there are no rows. */
  empty?: ReactNode;
};

export type Peek<Row> = {
  /** What a row is, such as `License`. */
  title: string;
  /** Path of the page of a row. */
  to: (row: Row) => string;
  content: (row: Row) => ReactNode;
};

type Groups<Row> = {
  of: (row: Row) => string;
  header: (group: string, rows: Row[]) => ReactNode;
  isCollapsed: (group: string) => boolean;
};

/** A length in pixels at the usual font size, which grows with the reader's. */
export const inRem = (pixels: number) => `${pixels / 16}rem`;

const isWide = (width: number | string | undefined) => typeof width === 'string' && parseFloat(width) >= 40;

/** Attributes of a cell: width, alignment and position of its column, its label in a card, and whether it is a line there. */
export const columnLook = <Row>({ id, header, align, width, pinned }: Column<Row>) => ({
  style: {
    width: typeof width === 'number' ? inRem(width) : width,
    textAlign: align,
    fontVariantNumeric: align === 'right' ? 'tabular-nums' : undefined,
  },
  'data-pinned': pinned,
  'data-label': id === actionsId ? undefined : header,
  'data-wide': isWide(width) || undefined,
});

/** A row by the names of all columns, those that the user has hidden included. */
export const factsOf = <Row>(columns: readonly Column<Row>[], row: Row): Record<string, ReactNode> =>
  Object.fromEntries(columns.map(({ header, cell }) => [header, cell(row)]));

export const directionOf = (id: string, sort: string | undefined): 'asc' | 'desc' | undefined =>
  sort === id ? 'asc' : sort === `-${id}` ? 'desc' : undefined;

/** After a click on the header: sorted by this column, then in the other direction, then no more. */
export function nextSort(
  { id, firstSort }: Pick<Column<never>, 'id' | 'firstSort'>,
  sort: string | undefined,
): string | undefined {
  const [first, second] = firstSort === 'desc' ? [`-${id}`, id] : [id, `-${id}`];
  return sort === first ? second : sort === second ? undefined : first;
}

/** The selection with `ids` added or removed. */
export function withSelected(selection: Selection, ids: readonly string[], selected: boolean): Selection {
  const next = new Set(selection);
  for (const id of ids) {
    if (selected) next.add(id);
    else next.delete(id);
  }
  return next;
}

/** The ids from `start` to `end`, in either order; only `end` if `start` is not among them. */
export function rangeOf(ids: readonly string[], start: string | undefined, end: string): string[] {
  const [one, other] = [ids.indexOf(start ?? end), ids.indexOf(end)];
  return one < 0 ? [end] : ids.slice(Math.min(one, other), Math.max(one, other) + 1);
}
