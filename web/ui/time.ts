import { readerLocale } from './locale.ts';

const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en');
/** `yesterday`: of a calendar, as the other units are not. */
const relativeDay = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Numbers the days, so that 47 hours after Monday morning is Wednesday, not tomorrow. */
const localDayNumber = (at: Date) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / 86_400_000;
const utcDayNumber = (at: Date) => Math.floor(at.getTime() / 86_400_000);

/** From the UTC day of `now` to that of `iso`: licenses begin and end by them. */
export const utcDaysTo = (iso: string, now: Date): number => utcDayNumber(new Date(iso)) - utcDayNumber(now);

/** `3 days ago`, `in 2 months`, `just now`; with days of the local time zone. */
export function relativeTime(iso: string, now: Date): string {
  const seconds = (Date.parse(iso) - now.getTime()) / 1000;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) < length) continue;
    if (unit === 'day') return relativeDay.format(localDayNumber(new Date(iso)) - localDayNumber(now), unit);
    return relative.format(Math.trunc(seconds / length), unit);
  }
  // The clock of the page may be half a minute slow: a new record must not seem to be in the future.
  return seconds > 30 ? 'in a moment' : 'just now';
}

/** `in 13 days`, `yesterday`, within a day `in 5 hours`: of an end that lists show by its UTC day. */
export const relativeUtcDay = (iso: string, now: Date): string =>
  Math.abs(Date.parse(iso) - now.getTime()) < 86_400_000
    ? relativeTime(iso, now)
    : relativeDay.format(utcDaysTo(iso, now), 'day');

type Part = 'day' | 'month' | 'year';
type Format = (at: Date) => string;
const numeric = { day: '2-digit', month: '2-digit', year: 'numeric' } as const;
const seconds = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const minutes = { hour: '2-digit', minute: '2-digit' } as const;

/** The order of day, month and year in numbers, and what stands between them: `05/09/2026`, `2026. 09. 05`. */
export function numericOrder(locale: Intl.Locale): { order: Part[]; separator: string } {
  const parts = new Intl.DateTimeFormat(locale, numeric).formatToParts();
  const order = parts.map(({ type }) => type).filter((type): type is Part => type in numeric);
  const between = parts.find(({ type }) => type === 'literal')?.value ?? '/';
  return { order, separator: between.replace(/[^-./ ]/g, '') };
}

/** British English shortens September to four letters; some browsers put a narrow space before AM and PM. */
const even = (text: string) => text.replace(/Sept\b/, 'Sep').replace('\u202f', ' ');

/** With months in words, as English does. */
function inWords(locale: Intl.Locale, timeZone?: string) {
  const as = (options: Intl.DateTimeFormatOptions): Format => {
    const format = new Intl.DateTimeFormat(locale, { ...options, ...(timeZone && { timeZone }) });
    return (at) => even(format.format(at));
  };
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions();
  const hour = hour12 ? 'numeric' : '2-digit';
  return {
    day: as({ day: 'numeric', month: 'short', year: 'numeric' }),
    dayOfYear: as({ day: 'numeric', month: 'short' }),
    weekday: as({ weekday: 'long', day: 'numeric', month: 'long' }),
    moment: as({ day: 'numeric', month: 'short', year: 'numeric', ...seconds, hour }),
    full: as({ dateStyle: 'long', timeStyle: 'medium' }),
    clock: as({ timeStyle: 'medium' }),
    clockMinutes: as({ timeStyle: 'short' }),
  };
}

/** In numbers alone: a name of a month would be in another language than the sentence around it. */
function inNumbers(locale: Intl.Locale, timeZone?: string) {
  const zoned = timeZone && { timeZone };
  const { order, separator } = numericOrder(locale);
  const parts = new Intl.DateTimeFormat('en-GB', { ...numeric, ...zoned });
  const joined = (at: Date, wanted: Part[]) => {
    const found = parts.formatToParts(at);
    return wanted.map((part) => found.find(({ type }) => type === part)?.value).join(separator);
  };
  const ofClock = (options: Intl.DateTimeFormatOptions): Format => {
    const format = new Intl.DateTimeFormat('en-GB', { ...options, ...zoned });
    return (at) => format.format(at);
  };
  const day: Format = (at) => joined(at, order);
  const dayOfYear: Format = (at) =>
    joined(
      at,
      order.filter((part) => part !== 'year'),
    );
  const nameOfDay = ofClock({ weekday: 'long' });
  const clock = ofClock(seconds);
  const moment: Format = (at) => `${day(at)}, ${clock(at)}`;
  return {
    day,
    dayOfYear,
    weekday: (at: Date) => `${nameOfDay(at)}, ${dayOfYear(at)}`,
    moment,
    full: moment,
    clock,
    clockMinutes: ofClock(minutes),
  };
}

/** Formats of dates and times in a locale; the console uses those of the reader, below. */
export function timesIn(locale: Intl.Locale) {
  const formats = locale.language === 'en' ? inWords : inNumbers;
  const local = formats(locale);
  const utc = formats(locale, 'UTC');
  const ofIso = (format: Format) => (iso: string) => format(new Date(iso));
  return {
    /** `20 Nov 2026`, in the local time zone. */
    shortDate: ofIso(local.day),
    /** `20 Nov 2026`: the UTC day, by which licenses begin and end. */
    utcDate: ofIso(utc.day),
    /** `Friday, 20 November`, in the local time zone. */
    longDay: local.weekday,
    /** `20 Nov 2026, 09:30:00`, in the local time zone. */
    momentText: ofIso(local.moment),
    /** `20 Nov` for `2026-11-20…`, for the axes of charts: the UTC day of the service. */
    dayLabel: ofIso(utc.dayOfYear),
    /** `20 November 2026 at 09:30:00`, in the local time zone. */
    fullTime: ofIso(local.full),
    /** `09:30:00`, in the local time zone. */
    clockTime: (at: number) => local.clock(new Date(at)),
    /** `09:30`, in the local time zone. */
    clockMinutes: local.clockMinutes,
    utcClock: utc.clock,
    utcClockMinutes: utc.clockMinutes,
  };
}

/** Those of the reader. */
export const { shortDate, utcDate, longDay, momentText, dayLabel, fullTime, clockTime, clockMinutes } =
  timesIn(readerLocale);

/** A text of the service, whose times are in ISO 8601, with these as the reader writes them. */
export const withTimes = (text: string, asText: (iso: string) => string = momentText): string =>
  text.replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, (iso) =>
    Number.isNaN(Date.parse(iso)) ? iso : asText(iso),
  );

const weekdays = new Intl.DateTimeFormat('en', { weekday: 'long' });

/** `Friday`, in the local time zone. */
export const weekdayName = (at: Date): string => weekdays.format(at);
