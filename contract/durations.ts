/** Milliseconds. */
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The time that is so many days of 24 hours later, or earlier if they are negative. */
export const daysFrom = (at: Date, days: number): Date => new Date(at.getTime() + days * dayMs);

/** The most days that a filter goes back. */
export const mostDaysBack = 3650;
