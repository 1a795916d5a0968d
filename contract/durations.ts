/** Milliseconds. */
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The UTC day of a time: `2026-11-20`. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

/** The time that is so many days of 24 hours later, or earlier if they are negative. */
export const daysFrom = (at: Date, days: number): Date => new Date(at.getTime() + days * dayMs);

/** The most days that a filter goes back. */
export const mostDaysBack = 3650;
