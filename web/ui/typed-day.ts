import { firstDay, isDay } from './day.ts';
import { utcDate } from './time.ts';

/*
 * Parses typed dates and times. A field has `2026-12-31`, or `2026-12-31T17:00` in the local time zone, or the typed text if
 * it is neither. Nothing is guessed: a day that does not exist, a two-digit year or a month before the day is refused.
 */

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const longMonths = 'january february march april may june july august september october november december';
/** Screens show `Sept`, calendars `Sep`. */
const monthNumbers = new Map([
  ...months.map((name, index) => [name, index + 1] as const),
  ...longMonths.split(' ').map((name, index) => [name, index + 1] as const),
  ['sept', 9] as const,
]);

type Parts = { year: number; month: number; day: number };

/** The numbers in a text with the format of a day, even if the day does not exist. */
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

/** Parses `2026-12-31`, `31.12.2026`, `31/12/2026` or `31 Dec 2026`; returns other text unchanged. */
export function readDay(text: string): string {
  const parts = partsOf(tidy(text));
  return (parts && dayOf(parts)) ?? text;
}

const moment = /^(.+?)(?:(?: at |, ?| |T)(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;

/**
 * Parses a day in the formats of `readDay` and a time such as `17:00`, in the local time zone; without a time, 23:59. A time
 * in an hour that daylight saving time skips is not valid.
 */
export function readMoment(text: string): string {
  const [, dayText = '', hour = '23', minute = '59', second = '00'] = moment.exec(tidy(text)) ?? [];
  const day = readDay(dayText);
  if (!isDay(day)) return text;
  const local = `${day}T${hour.padStart(2, '0')}:${minute}${second === '00' ? '' : `:${second}`}`;
  return isMoment(local) ? local : text;
}

/** Whether the value of a field is a date and time. */
export const isMoment = (value: string): boolean => value !== '' && localOf(new Date(value)) === value;

/** The field value of an instant, in the local time zone. */
export function localOf(at: Date): string {
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, local.slice(16, 19) === ':00' ? 16 : 19);
}

/** `31 Dec 2026`; text that is not a day is unchanged. */
export const shownDay = (value: string): string => (isDay(value) ? utcDate(value) : value);

/** `31 Dec 2026, 17:00`; other text is unchanged. */
export const shownMoment = (value: string): string =>
  isMoment(value) ? `${shownDay(value.slice(0, 10))}, ${value.slice(11)}` : value;

/** The error of a text that is not a day; undefined for a day and an empty field. */
export function dayProblem(value: string): string | undefined {
  if (value === '' || isDay(value)) return undefined;
  return hint(value, 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31');
}

/** The error of a text that is not a date and time; undefined for a valid one and an empty field. */
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
