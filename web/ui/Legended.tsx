import { useState, type ReactNode } from 'react';
import { countText } from './numbers.ts';

/** Of a legend in one line, in pixels. */
const line = 36;

type Look = {
  h: number;
  withLegend: true;
  legendProps: { verticalAlign: 'top'; portal: HTMLElement | null; itemSorter: null };
  tickLine: 'none';
  valueFormatter: (value: number) => string;
};

/**
 * The look of every chart with a legend, which is above the chart and not in it: on a narrow screen it has more lines, and
 * would cover the bars. `height`: of both, in pixels, where the legend has one line.
 */
export function Legended({ height, children }: { height: number; children: (look: Look) => ReactNode }) {
  const [portal, setPortal] = useState<HTMLElement | null>(null);
  return (
    <>
      <div ref={setPortal} data-legend style={{ minHeight: line }} />
      {children({
        h: height - line,
        withLegend: true,
        // in the order of the series, not by their names
        legendProps: { verticalAlign: 'top', portal, itemSorter: null },
        tickLine: 'none',
        valueFormatter: countText,
      })}
    </>
  );
}
