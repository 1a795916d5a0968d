import { firstDay, isDay } from './day.ts';
import { utcDate } from './time.ts';

/*
 * Days and moments as a person types them. A field holds `2026-12-31`, or `2026-12-31T17:00` in the zone of the
 * reader; or the text as it was typed where that is none. Nothing is guessed: a day that does not exist, a year of
 * two digits or a month before the day is refused.
 */

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const longMonths = 'january february march april may june july august september october november december';
/** The screens write `Sept`, calendars `Sep`. */
const monthNumbers = new Map([
  ...months.map((name, index) => [name, index + 1] as const),
  ...longMonths.split(' ').map((name, index) => [name, index + 1] as const),
  ['sept', 9] as const,
]);

type Parts = { year: number; month: number; day: number };

/** The numbers in a text that has the form of a day, whether or not there is such a day. */
function partsOf(text: string): Parts | undefined {
  const iso = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (iso) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) };
  const numeric = /^(\d{1,2})(?:\. ?(\d{1,2})\. ?|\/(\d{1,2})\/)(\d{4})$/.exec(text);
  if (numeric) {
    return { year: Number(numeric[4]), month: Number(numeric[2] ?? numeric[3]), day: Number(numeric[1]) };
  }
  const named = /^(\d{1,2}) ([a-z]{3,9}) (\d{4})$/i.exec(text);
  const month = monthNumbers.get((named?.[2] ?? '').toLowerCase());
  return named && month ? { year: Number(named[3]), month, day: Number(named[1]) } : undefined;
}

const padded = (number: number, length = 2) => String(number).padStart(length, '0');

function dayOf({ year, month, day }: Parts): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const text = `${padded(year, 4)}-${padded(month)}-${padded(day)}`;
  return exists && text >= firstDay ? text : undefined;
}

const tidy = (text: string) => text.trim().replaceAll(/\s+/g, ' ');

/** The day that `text` says: `2026-12-31`, `31.12.2026`, `31/12/2026` or `31 Dec 2026`; otherwise the text. */
export function readDay(text: string): string {
  const parts = partsOf(tidy(text));
  return (parts && dayOf(parts)) ?? text;
}

const moment = /^(.+?)(?:(?: at |, ?| |T)(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;

/**
 * The moment that `text` says, in the zone of the reader: a day as `readDay` takes it, and a time such as `17:00`. A day
 * alone is taken until its end, 23:59. An hour that the clocks skip is no moment.
 */
export function readMoment(text: string): string {
  const [, dayText = '', hour = '23', minute = '59', second = '00'] = moment.exec(tidy(text)) ?? [];
  const day = readDay(dayText);
  if (!isDay(day)) return text;
  const local = `${day}T${hour.padStart(2, '0')}:${minute}${second === '00' ? '' : `:${second}`}`;
  return isMoment(local) ? local : text;
}

/** Whether a field holds a moment. */
export const isMoment = (value: string): boolean => value !== '' && localOf(new Date(value)) === value;

/** What a field holds of an instant, in the zone of the reader. */
export function localOf(at: Date): string {
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, local.slice(16, 19) === ':00' ? 16 : 19);
}

/** `31 Dec 2026`; text that is no day as it stands. */
export const shownDay = (value: string): string => (isDay(value) ? utcDate(value) : value);

/** `31 Dec 2026, 17:00`; text that is no moment as it stands. */
export const shownMoment = (value: string): string =>
  isMoment(value) ? `${shownDay(value.slice(0, 10))}, ${value.slice(11)}` : value;

/** What is wrong with a text that is no day; undefined for a day and for an empty field. */
export function dayProblem(value: string): string | undefined {
  if (value === '' || isDay(value)) return undefined;
  return hint(value, 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31');
}

/** What is wrong with a text that is no moment; undefined for a moment and for an empty field. */
export function momentProblem(value: string): string | undefined {
  if (value === '' || isMoment(value)) return undefined;
  return hint(value, 'Write a date and time such as 31 Dec 2026, 17:00');
}

function hint(text: string, example: string): string {
  const parts = partsOf(moment.exec(tidy(text))?.[1] ?? '');
  if (!parts) return example;
  if (dayOf(parts)) return 'There is no such time on that day';
  return parts.year < 1970 ? 'Must lie between the years 1970 and 9999' : 'There is no such day';
}
