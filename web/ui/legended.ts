import { countText } from './numbers.ts';

/** The look of every chart with a legend. */
export const legended = {
  withLegend: true,
  legendProps: { verticalAlign: 'top', height: 36 },
  tickLine: 'none',
  valueFormatter: countText,
} as const;
