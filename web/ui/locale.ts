/*
 * How the reader writes dates and numbers. The interface is English everywhere, so that only order, separators and the
 * first day of the week follow the browser's language: no word of another language stands in an English sentence.
 */

const fallback = 'en-GB';

/** The locale with the calendar and digits of the interface. Some browsers have languages that `Intl` refuses. */
export function localeOf(language: string): Intl.Locale {
  const options = { calendar: 'gregory', numberingSystem: 'latn' };
  try {
    return new Intl.Locale(language, options);
  } catch {
    return new Intl.Locale(fallback, options);
  }
}

/** The locale of the reader; outside of a browser British English. */
export const readerLocale = localeOf(typeof document === 'undefined' ? fallback : navigator.language);

type WithWeek = { getWeekInfo?: () => { firstDay: number }; weekInfo?: { firstDay: number } };

/** The day on which a week begins: 0 is Sunday. Monday in browsers that do not say. */
export function firstDayOfWeek(of: Intl.Locale = readerLocale): 0 | 1 | 2 | 3 | 4 | 5 | 6 {
  const { getWeekInfo, weekInfo } = of as WithWeek;
  const { firstDay = 1 } = getWeekInfo?.call(of) ?? weekInfo ?? {};
  return (firstDay % 7) as ReturnType<typeof firstDayOfWeek>;
}

/** The time zone of the reader, such as `Europe/Berlin`. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All time zones that the browser knows. */
export const allZones = (): string[] => Intl.supportedValuesOf('timeZone');

/** Compares texts as the reader sorts them, with numbers in them by their value. */
export const compareTexts = new Intl.Collator(readerLocale, { numeric: true }).compare;
