import { Skeleton } from '@mantine/core';
import type { RowData } from '@tanstack/react-table';
import { lazy, memo, Suspense } from 'react';
import { DataTableRow, type Item, type RowsProps } from './DataTableRow.tsx';

/** Loaded on demand: most lists are only one page long. */
const VirtualRows = lazy(() => import('./VirtualRows.tsx')) as typeof import('./VirtualRows.tsx').default;

/** Below this number, plain rows are faster, and find-in-page works. */
const virtualAbove = 200;
const skeletonRows = 12;

export function DataTableBody<T extends RowData>(props: RowsProps<T>) {
  const width = props.table.getVisibleLeafColumns().length + (props.selection ? 1 : 0);
  if (!props.rows) return <SkeletonBody width={width} />;
  const items = itemsOf(props);
  if (items.length > virtualAbove) {
    return (
      <Suspense fallback={<SkeletonBody width={width} />}>
        <VirtualRows {...props} items={items} width={width} />
      </Suspense>
    );
  }
  return (
    <tbody role="rowgroup">
      {items.map((item) => (
        <DataTableRow key={item.key} item={item} width={width} {...props} />
      ))}
    </tbody>
  );
}

function itemsOf<T extends RowData>({ table, groups }: RowsProps<T>): Item<T>[] {
  const items: Item<T>[] = [];
  let section: T[] | undefined;
  let current: string | undefined;
  for (const row of table.getRowModel().rows) {
    const group = groups?.of(row.original);
    if (group !== undefined && (!section || group !== current)) {
      section = [];
      current = group;
      items.push({ key: `group ${group}`, group, rows: section });
    }
    section?.push(row.original);
    if (group === undefined || !groups?.isCollapsed(group)) items.push({ key: row.id, row });
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
