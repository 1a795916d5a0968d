import { Skeleton } from '@mantine/core';
import {
  memo,
  startTransition,
  Suspense,
  useEffect,
  useRef,
  useState,
  type ChangeEvent,
  type RefObject,
} from 'react';
import { rangeOf, withSelected, type DataTableProps } from './data-table.ts';
import { DataTableRow, Gap, rowHeight, type Item, type RowProps } from './DataTableRow.tsx';
import { lazyPart } from './lazy-part.ts';
import { useRowBack } from './row-back.ts';
import { useIsPaper } from './use-is-paper.ts';
import { useScrollBack } from './use-scroll-back.ts';

/** Loaded on demand: most lists are only one page long. */
const VirtualRows = lazyPart(() => import('./VirtualRows.tsx')) as typeof import('./VirtualRows.tsx').default;

/** Below this number, plain rows are faster, and find-in-page works. */
const virtualAbove = 200;
const skeletonRows = 12;
/** Rows in each part that comes later. */
const inPart = 16;
/** The rows that a window shows, and a few more where these are all. */
const atFirst = (all: number) => {
  const shown = Math.max(inPart, Math.ceil(window.innerHeight / rowHeight));
  return all <= shown + inPart / 2 ? all : shown;
};

export function DataTableBody<Row>(
  props: DataTableProps<Row> & { items: Item<Row>[] | undefined; scroller: RefObject<HTMLDivElement | null> },
) {
  const { scroller, items, selection, onSelection, ...table } = props;
  const lastSelected = useRef<string>(undefined);
  const isPaper = useIsPaper();
  const width = props.columns.length + (selection ? 1 : 0);
  if (!items) return <SkeletonBody width={width} />;
  /** With Shift: all rows that are seen from the one that was selected last. */
  const onSelect = (id: string, event: ChangeEvent<HTMLInputElement>) => {
    const isRange = (event.nativeEvent as MouseEvent).shiftKey;
    const ids = isRange ? rangeOf(idsOf(items), lastSelected.current, id) : [id];
    lastSelected.current = id;
    if (selection) onSelection?.(withSelected(selection, ids, event.currentTarget.checked));
  };
  const shared = { ...table, selection, onSelect, width };
  if (items.length > virtualAbove && !isPaper) {
    return (
      <Suspense fallback={<SkeletonBody width={width} />}>
        <VirtualRows {...shared} items={items} scroller={scroller} />
      </Suspense>
    );
  }
  return <PlainRows {...shared} items={items} isPaper={isPaper} />;
}

const idsOf = <Row,>(items: Item<Row>[]) => items.flatMap((item) => ('row' in item ? [item.key] : []));

/** Not rendered again when the next part of the rows comes. */
const MemoRow = memo(DataTableRow) as typeof DataTableRow;

/**
 * Renders what a window shows, then the others in parts, in between of what else happens: fifty at once hold the page for
 * 150 ms. The room of those to come is kept, so that what is below the list hardly moves. Who comes back to a row further
 * down finds it there.
 */
function PlainRows<Row>({
  items,
  isPaper,
  ...shared
}: RowProps<Row> & { items: Item<Row>[]; isPaper: boolean }) {
  const rows = useRef<HTMLTableSectionElement>(null);
  const isScrolledBack = useScrollBack(shared.label, rows);
  const isBack = useRowBack(shared.label, rows, isScrolledBack) !== undefined || isScrolledBack;
  const [count, setCount] = useState(() => (isBack ? items.length : atFirst(items.length)));
  const rest = isPaper ? 0 : items.length - count;
  useEffect(() => {
    if (rest > 0) startTransition(() => setCount(count + inPart));
  }, [count, rest]);
  return (
    <tbody ref={rows} role="rowgroup">
      {items.slice(0, items.length - rest).map((item) => (
        <MemoRow key={item.key} item={item} {...shared} />
      ))}
      <Gap height={rest * rowHeight} width={shared.width} />
    </tbody>
  );
}

/** The rows with the headers of their sections, without those that are collapsed. */
export function itemsOf<Row>(
  props: Pick<DataTableProps<Row>, 'rowId' | 'groups'> & { rows: readonly Row[] },
): Item<Row>[] {
  const { rows, rowId, groups } = props;
  const items: Item<Row>[] = [];
  let section: Row[] | undefined;
  let current: string | undefined;
  for (const row of rows) {
    const group = groups?.of(row);
    if (group !== undefined && (!section || group !== current)) {
      section = [];
      current = group;
      items.push({ key: `group ${group}`, group, rows: section });
    }
    section?.push(row);
    if (group === undefined || !groups?.isCollapsed(group)) items.push({ key: rowId(row), row });
  }
  return items;
}

const SkeletonBody = memo(function SkeletonBody({ width }: { width: number }) {
  return (
    <tbody aria-hidden>
      {[...Array(skeletonRows).keys()].map((row) => (
        <tr key={row}>
          {[...Array(width).keys()].map((column) => (
            <td key={column}>
              <Skeleton height={10} width={`${45 + ((row * 7 + column * 13) % 5) * 9}%`} radius={3} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
});
