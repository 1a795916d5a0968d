/** The range that the service accepts. */
export const firstDay = '1970-01-01';
export const lastDay = '9999-12-31';

/** Whether a text is an existing day such as `2026-12-31`. In its own file, because every URL is checked with it. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < firstDay) return false;
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
