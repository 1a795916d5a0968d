import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { DataTableRow, Gap, rowHeight, type Item, type RowProps } from './DataTableRow.tsx';
import { useRowBack } from './row-back.ts';

// until it is measured
const groupHeight = 28;

/** Renders only the visible rows, between two spacers for the others. */
export default function VirtualRows<Row>(
  props: RowProps<Row> & { items: Item<Row>[]; scroller: RefObject<HTMLDivElement | null> },
) {
  const { items, scroller, ...shared } = props;
  // rendered together with its box, as after Back, it has none yet
  const [box, setBox] = useState(scroller.current);
  useEffect(() => setBox(scroller.current), [scroller]);
  // Its functions must not be memoized, and nothing here is memoized.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box,
    estimateSize: (index) => ('group' in (items[index] ?? {}) ? groupHeight : rowHeight),
    overscan: 12,
  });
  const body = useRef<HTMLTableSectionElement>(null);
  useRowBack(shared.label, body, false, (id) => {
    const at = items.findIndex(({ key }) => key === id);
    if (at >= 0) virtual.scrollToIndex(at);
  });
  const shown = virtual.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <tbody ref={body} role="rowgroup">
      <Gap height={before} width={shared.width} />
      {items.slice(shown[0]?.index ?? 0, (shown.at(-1)?.index ?? -1) + 1).map((item, place) => {
        const index = (shown[0]?.index ?? 0) + place;
        // the header is the first row
        const measured = { ref: virtual.measureElement, 'data-index': index, 'aria-rowindex': index + 2 };
        return <DataTableRow key={item.key} item={item} measured={measured} {...shared} />;
      })}
      <Gap height={after} width={shared.width} />
    </tbody>
  );
}
