import { firstDay, instantText, isDay } from './day.ts';
import { halfWidth } from './half-width.ts';
import { readerLocale } from './locale.ts';
import { numericOrder, timesIn } from './time.ts';

/*
 * Parses typed dates and times. A field has `2026-12-31`, or `2026-12-31T17:00` in the local time zone, or the typed text if
 * it is neither. Nothing is guessed: a day that does not exist and a two-digit year are refused, and so are day and month
 * in another order than the reader's.
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
const partsFrom = (year?: string, month?: string | number, day?: string): Parts => ({
  year: Number(year),
  month: Number(month),
  day: Number(day),
});

const iso = /^(\d{4})-(\d\d)-(\d\d)$/;
const yearFirst = /^(\d{4})(?:\/|\. ?)(\d{1,2})(?:\/|\. ?)(\d{1,2})\.?$/;
const dotted = /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})\.?$/;
const slashed = /^(\d{1,2})([/-])(\d{1,2})\2(\d{4})$/;
const dayMonth = /^(\d{1,2})[ -]([a-z]{3,9})(?:-|,? )(\d{4})$/i;
const monthDay = /^([a-z]{3,9}) (\d{1,2}),? (\d{4})$/i;

/** The numbers in a text with the format of a day, even if the day does not exist. */
function partsIn(text: string, { order, separator }: ReturnType<typeof numericOrder>): Parts | undefined {
  const year = iso.exec(text) ?? yearFirst.exec(text);
  if (year) return partsFrom(...year.slice(1));
  const dots = dotted.exec(text);
  if (dots) return partsFrom(dots[3], dots[2], dots[1]);
  const [, first, sign, second, last] = slashed.exec(text) ?? [];
  // Where the year comes first, `5/4/2026` has no usual meaning; a hyphen only where dates are shown with it.
  if (first && order[0] !== 'year' && (sign === '/' || sign === separator))
    return order[0] === 'month' ? partsFrom(last, first, second) : partsFrom(last, second, first);
  const named = dayMonth.exec(text)?.slice(1) ?? monthDay.exec(text)?.slice(1);
  if (!named) return undefined;
  const [one = '', other = '', of] = named;
  const month = monthNumbers.get(one.toLowerCase()) ?? monthNumbers.get(other.toLowerCase());
  return month === undefined ? undefined : partsFrom(of, month, /\d/.test(one) ? one : other);
}

const padded = (number: number, length = 2) => String(number).padStart(length, '0');

function isoOfParts({ year, month, day }: Parts): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const text = `${padded(year, 4)}-${padded(month)}-${padded(day)}`;
  return exists && text >= firstDay ? text : undefined;
}

/** After a comma, as English in Denmark and Finland writes it: elsewhere the dots are those of a day. */
const dottedTime = /(?<= at |, ?)(\d{1,2})\.(\d\d)(?:\.(\d\d))?(?=$| ?[ap])/i;

const tidy = (text: string) =>
  halfWidth(text)
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replace(dottedTime, (time) => time.replaceAll('.', ':'));

const momentParts = /^(.+?)(?:(?: at |, ?| |T)(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?)?$/i;

/** The hour of a day of 24 hours; of `13 pm` and `0 am` an hour that does not exist. */
function hourOf(hour: string, half?: string): string {
  if (half === undefined) return hour.padStart(2, '0');
  const ofHalf = Number(hour);
  if (ofHalf < 1 || ofHalf > 12) return '99';
  return padded((ofHalf % 12) + (half.toLowerCase() === 'p' ? 12 : 0));
}

/** Whether the value of a field is a date and time. */
export const isMoment = (value: string): boolean => value !== '' && localOf(new Date(value)) === value;

/** The field value of an instant, in the local time zone, within the years that a field takes. */
export function localOf(at: Date): string {
  if (Number.isNaN(at.getTime())) return '';
  const local = instantText(new Date(at.getTime() - at.getTimezoneOffset() * 60_000));
  return local.slice(0, local.slice(16, 19) === ':00' ? 16 : 19);
}

/** A day that is chosen, at the time of the value of its field, or `otherwise`; where that is skipped, after it. */
export const onDay = (day: string, value: string, otherwise: string): string =>
  localOf(new Date(`${day}T${isMoment(value) ? value.slice(11) : otherwise}`));

/** Reads and shows the dates of fields in a locale; the console uses those of the reader, below. */
export function typedDaysIn(locale: Intl.Locale) {
  const numeric = numericOrder(locale);
  const { utcDate, utcClock, utcClockMinutes } = timesIn(locale);
  const partsOf = (text: string) => partsIn(text, numeric);
  const readDay = (text: string): string => {
    const parts = partsOf(tidy(text));
    return (parts && isoOfParts(parts)) ?? text;
  };
  const shownDay = (value: string): string => (isDay(value) ? utcDate(value) : value);
  const shownMoment = (value: string): string => {
    if (!isMoment(value)) return value;
    const clock = value.length > 16 ? utcClock : utcClockMinutes;
    return `${shownDay(value.slice(0, 10))}, ${clock(new Date(`${value}Z`))}`;
  };
  const hint = (text: string, ofTime: string, example: string): string => {
    const parts = partsOf(momentParts.exec(tidy(text))?.[1] ?? '');
    // the month in the place of the day: the example shows the order
    if (!parts || parts.month > 12) return example;
    if (isoOfParts(parts)) return ofTime;
    return parts.year < 1970 ? 'Must lie between the years 1970 and 9999' : 'There is no such day';
  };
  const inNumbers = numeric.order[0] === 'month' ? '12/31/2026' : '31.12.2026';
  const examples = [...new Set([shownDay('2026-12-31'), inNumbers, '2026-12-31'])];
  return {
    /**
     * Parses `2026-12-31`, `31.12.2026`, `31 Dec 2026`, `Dec 31, 2026`, and `31/12/2026` in the order of the
     * reader's dates; returns other text unchanged.
     */
    readDay,
    /**
     * Parses a day in the formats of `readDay` and a time such as `17:00` or `5:00 PM`, in the local time zone;
     * without a time, `otherwise`, or the first time after it: in some zones the clocks skip midnight. A typed time in an
     * hour that daylight saving time skips is not valid.
     */
    readMoment: (text: string, otherwise: string): string => {
      const found = momentParts.exec(tidy(text)) ?? [];
      const [, dayText = '', hour, minute, second = '00', half] = found;
      const day = readDay(dayText);
      if (!isDay(day)) return text;
      if (hour === undefined) return localOf(new Date(`${day}T${otherwise}`));
      const local = `${day}T${hourOf(hour, half)}:${minute}${second === '00' ? '' : `:${second}`}`;
      return isMoment(local) ? local : text;
    },
    /** `31 Dec 2026`; text that is not a day is unchanged. */
    shownDay,
    /** `31 Dec 2026, 17:00`; other text is unchanged. */
    shownMoment,
    /** The error of a text that is not a day; undefined for a day and an empty field. */
    dayProblem: (value: string): string | undefined =>
      value === '' || isDay(value)
        ? undefined
        : hint(
            value,
            'Write the day without a time',
            `Write a date such as ${examples.slice(0, -1).join(', ')} or ${examples.at(-1)}`,
          ),
    /** The error of a text that is not a date and time; undefined for a valid one and an empty field. */
    momentProblem: (value: string): string | undefined =>
      value === '' || isMoment(value)
        ? undefined
        : hint(
            value,
            'There is no such time on that day',
            `Write a date and time such as ${shownMoment('2026-12-31T17:00')}`,
          ),
  };
}

/** Those of the reader. */
export const { readDay, readMoment, shownDay, shownMoment, dayProblem, momentProblem } =
  typedDaysIn(readerLocale);
