/** The range that the service accepts. */
export const firstDay = '1970-01-01';
export const lastDay = '9999-12-31';

const lastMoment = Date.parse(`${lastDay}T23:59:59.999Z`);

/** A moment as the service takes it: in other time zones, the first and the last day reach out of its range. */
export const instantText = (at: Date): string =>
  new Date(Math.min(Math.max(at.getTime(), 0), lastMoment)).toISOString();

/** Whether a text is an existing day such as `2026-12-31`. In its own file, because every URL is checked with it. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < firstDay) return false;
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
