/** Whether this UTC day (`2026-11-20…`) is still going on: what was counted of it so far looks like a collapse. */
export const isUnfinished = (day: string | undefined): boolean =>
  day?.slice(0, 10) === new Date().toISOString().slice(0, 10);

/** Stands below a chart that ends with today. */
export const unfinishedNote = 'Dashed: today (UTC), so far.';
