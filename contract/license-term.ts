import { utcDay } from './durations.ts';
import type { LicenseType } from './licenses.ts';

/*
 * Days of a license. A form holds a day as `2026-11-20`; on the wire it is the instant at which that day begins in UTC.
 * So `validFrom` plus 30 days is exactly 30 days of time (spec part 1, section 5), the search for a long date finds
 * what is shown, and every user sees the same day in every time zone. "Today" is the UTC day as well: a license issued
 * now is valid immediately, also east of Greenwich.
 */

/** `2026-11-20`. */
export type Day = string;
/** A length of time by the calendar. */
export type Term = { days: number } | { months: number };
/** The usual length of a license of each type. */
export type Terms = Record<LicenseType, Term>;

/** In the license modal: spec part 1, sections 5 and 9. */
export const modalTerms: Terms = { trial: { days: 30 }, enterprise: { months: 12 } };
/** On the page /licenses/new: spec part 2, section 9. */
export const pageTerms: Terms = { trial: { days: 30 }, enterprise: { months: 1 } };

/** What an end date can be extended by in one step. */
export const extensions = [
  { label: '+30 days', term: { days: 30 } },
  { label: '+1 year', term: { months: 12 } },
] as const satisfies { label: string; term: Term }[];

const lastDay: Day = '9999-12-31';

/** The day on which an instant of the wire lies, in UTC. */
export const dayIn = (instant: string): Day => instant.slice(0, 10);
/** The instant at which a day begins in UTC, as on the wire. */
export const midnightOf = (day: Day): string => `${day}T00:00:00.000Z`;

/**
 * The day that is `term` after `from`. Months keep the day of the month where it exists, else take the last: a year
 * from 29 February ends on 28 February.
 */
export function addTerm(from: Day, term: Term): Day {
  const end = 'days' in term ? addDays(from, term.days) : addMonths(from, term.months);
  return end.getTime() > Date.parse(lastDay) ? lastDay : utcDay(end);
}

/** The instant that is `term` after `from`, by the calendar of UTC: the time of day stays. */
export const extended = (from: string, term: Term): string => addTerm(dayIn(from), term) + from.slice(10);

function addDays(from: Day, days: number): Date {
  const date = new Date(midnightOf(from));
  date.setUTCDate(date.getUTCDate() + days);
  return date;
}

function addMonths(from: Day, months: number): Date {
  const date = new Date(midnightOf(from));
  const wanted = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(wanted, last));
  return date;
}
