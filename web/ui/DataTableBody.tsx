import { Skeleton } from '@mantine/core';
import {
  lazy,
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

/** Loaded on demand: most lists are only one page long. */
const VirtualRows = lazy(() => import('./VirtualRows.tsx')) as typeof import('./VirtualRows.tsx').default;

/** Below this number, plain rows are faster, and find-in-page works. */
const virtualAbove = 200;
const skeletonRows = 12;
/** About what a window shows. */
const atOnce = 16;

export function DataTableBody<Row>(
  props: DataTableProps<Row> & { scroller: RefObject<HTMLDivElement | null> },
) {
  const { scroller, rows, rowId, selection, onSelection, ...table } = props;
  const lastSelected = useRef<string>(undefined);
  const width = props.columns.length + (selection ? 1 : 0);
  if (!rows) return <SkeletonBody width={width} />;
  /** With Shift: all rows from the one that was selected last. */
  const onSelect = (id: string, event: ChangeEvent<HTMLInputElement>) => {
    const isRange = (event.nativeEvent as MouseEvent).shiftKey;
    const ids = isRange ? rangeOf(rows.map(rowId), lastSelected.current, id) : [id];
    lastSelected.current = id;
    if (selection) onSelection?.(withSelected(selection, ids, event.currentTarget.checked));
  };
  const items = itemsOf({ ...props, rows });
  const shared = { ...table, selection, onSelect, width };
  if (items.length > virtualAbove) {
    return (
      <Suspense fallback={<SkeletonBody width={width} />}>
        <VirtualRows {...shared} items={items} scroller={scroller} />
      </Suspense>
    );
  }
  return <PlainRows {...shared} items={items} />;
}

/** Not rendered again when the next part of the rows comes. */
const MemoRow = memo(DataTableRow) as typeof DataTableRow;

/**
 * Renders what a window shows, then as many rows each time, in between of what else happens: fifty at once hold the page
 * for 150 ms. The room of those to come is kept, so that what is below the list does not move.
 */
function PlainRows<Row>({ items, ...shared }: RowProps<Row> & { items: Item<Row>[] }) {
  const [count, setCount] = useState(atOnce);
  const rest = items.length - count;
  useEffect(() => {
    if (rest > 0) startTransition(() => setCount(count + atOnce));
  }, [count, rest]);
  return (
    <tbody role="rowgroup">
      {items.slice(0, count).map((item) => (
        <MemoRow key={item.key} item={item} {...shared} />
      ))}
      <Gap height={rest * rowHeight} width={shared.width} />
    </tbody>
  );
}

function itemsOf<Row>(props: Pick<DataTableProps<Row>, 'rowId' | 'groups'> & { rows: readonly Row[] }) {
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
