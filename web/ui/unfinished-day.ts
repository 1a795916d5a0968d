/** Whether this UTC day (`2026-11-20…`) has not ended: its partial count would look like a drop. */
export const isUnfinished = (day: string | undefined): boolean =>
  day?.slice(0, 10) === new Date().toISOString().slice(0, 10);

/** Shown below a chart that ends with today. */
export const unfinishedNote = 'Dashed: today (UTC), so far.';
