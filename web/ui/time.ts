const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const utcDay = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });

/** `3 days ago`, `in 2 months`, `just now`. */
export function relativeTime(iso: string, now: Date): string {
  const seconds = (Date.parse(iso) - now.getTime()) / 1000;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  // The clock of the page may be half a minute slow: a new record must not seem to be in the future.
  return seconds > 30 ? 'in a moment' : 'just now';
}

/** British English shortens September to four letters and every other month to three. */
const shortened = (format: Intl.DateTimeFormat, iso: string) =>
  format.format(new Date(iso)).replace(/Sept\b/, 'Sep');

/** `20 Nov 2026`, in the local time zone. */
export const shortDate = (iso: string): string => shortened(day, iso);

/** `20 Nov 2026`: the UTC day, by which licenses begin and end. */
export const utcDate = (iso: string): string => shortened(utcDay, iso);

/** `Friday, 20 November`, in the local time zone. */
export const longDay = (at: Date): string => weekday.format(at);

/** `20 Nov 2026, 09:30:00`, in the local time zone. */
export const momentText = (iso: string): string => shortened(moment, iso);

/** `20 Nov` for `2026-11-20…`, for the axes of charts: the UTC day of the service. */
export const dayLabel = (iso: string): string => shortened(dayOfYear, iso);

/** `20 November 2026 at 09:30:00`, in the local time zone. */
export const fullTime = (iso: string): string => full.format(new Date(iso));

/** `09:30:00`, in the local time zone. */
export const clockTime = (at: number): string => clock.format(at);
