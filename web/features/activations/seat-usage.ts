/** Usage level of the seats of a license. */
export type Usage = 'normal' | 'high' | 'full';

/**
 * High above 75 percent of max, full at or above max (spec part 1, section 9). In integers, so that 3 of 4 is not high
 * because of rounding.
 */
export function usageOf(used: number, max: number): Usage {
  if (used >= max) return 'full';
  return used * 4 > max * 3 ? 'high' : 'normal';
}
