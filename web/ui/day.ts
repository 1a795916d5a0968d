/** What the service can hold. */
export const firstDay = '1970-01-01';
export const lastDay = '9999-12-31';

/** Whether a text is a day that exists, as `2026-12-31`. Apart from the other forms: every address is checked by it. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < firstDay) return false;
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
