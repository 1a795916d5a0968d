/**
 * Whether the UTC day (`2026-11-20…`), or the given number of days from it, has not ended: its partial count would look
 * like a drop.
 */
export const isUnfinished = (day: string | undefined, days = 1): boolean =>
  day !== undefined && Date.now() < Date.parse(day.slice(0, 10)) + days * 86_400_000;

/** Shown below a chart that ends with today. */
export const unfinishedNote = 'Dashed: today (UTC), so far.';

/** The same for weeks. */
export const unfinishedWeekNote = 'Dashed: this week, so far.';
