/** Milliseconds. */
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The most days that a filter goes back. */
export const mostDaysBack = 3650;
