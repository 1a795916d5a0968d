import fc from 'fast-check';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { isDay } from './day.ts';
import { localeOf } from './locale.ts';
import {
  dayProblem,
  localOf,
  shownDay,
  momentProblem,
  onDay,
  shownMoment,
  readDay,
  readMoment,
  typedDaysIn,
} from './typed-day.ts';

// Where clocks are put forward and back.
vi.stubEnv('TZ', 'Europe/Berlin');
afterAll(() => vi.unstubAllEnvs());

test.each([
  ['2026-12-31', '2026-12-31'],
  ['31.12.2026', '2026-12-31'],
  ['1.2.2027', '2027-02-01'],
  ['01. 02. 2027', '2027-02-01'],
  ['1/2/2027', '2027-02-01'],
  [' 31 Dec 2026 ', '2026-12-31'],
  ['1 sept 2026', '2026-09-01'],
  ['1 Sep 2026', '2026-09-01'],
  ['20  November 2026', '2026-11-20'],
  ['29 Feb 2028', '2028-02-29'],
  ['Dec 31, 2026', '2026-12-31'],
  ['2026/1/2', '2026-01-02'],
  // as East Asian keyboards write them
  ['２０２６－１２－３１', '2026-12-31'],
  ['２０２６／１／２', '2026-01-02'],
])('%j is the day %s', (text, day) => expect(readDay(text)).toBe(day));

test.each([
  ['31 Feb 2027', 'There is no such day'],
  ['29.2.2027', 'There is no such day'],
  ['31.12.1969', 'Must lie between the years 1970 and 9999'],
  ['31/12/0026', 'Must lie between the years 1970 and 9999'],
  ['12/31/2026', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['31 Feb', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['1.2.27', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['2026-1-2', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['31.12/2026', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['tomorrow', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['31.12.2026 00:00', 'Write the day without a time'],
])('%j stays as it is, with an error', (text, problem) => {
  expect(readDay(text)).toBe(text);
  expect(shownDay(text)).toBe(text);
  expect(dayProblem(text)).toBe(problem);
});

test.each([
  ['31 Dec 2026, 17:00', '2026-12-31T17:00'],
  ['31.12.2026 9:05', '2026-12-31T09:05'],
  ['２０２６-１２-３１　１７：００', '2026-12-31T17:00'],
  ['2026-12-31T17:00', '2026-12-31T17:00'],
  ['31 December 2026 at 17:00:30', '2026-12-31T17:00:30'],
  ['31.12.2026', '2026-12-31T23:59'],
  ['Dec 31, 2026, 5:00 PM', '2026-12-31T17:00'],
  ['31 Dec 2026, 12:30 a.m.', '2026-12-31T00:30'],
])('%j is the moment %s', (text, moment) => expect(readMoment(text, '23:59')).toBe(moment));

test('a moment without a time is at the time of its field', () => {
  expect(readMoment('31.12.2026', '00:00')).toBe('2026-12-31T00:00');
});

test('where the clocks skip midnight, a day without a time begins after it', () => {
  vi.stubEnv('TZ', 'America/Santiago');
  onTestFinished(() => void vi.stubEnv('TZ', 'Europe/Berlin'));
  expect(readMoment('5.9.2027', '00:00')).toBe('2027-09-05T01:00');
  expect(onDay('2027-09-05', '2027-09-04T00:00', '00:00')).toBe('2027-09-05T01:00');
  expect(onDay('2027-09-05', '2027-09-04T17:00:05', '00:00')).toBe('2027-09-05T17:00:05');
  expect(momentProblem(readMoment('5.9.2027 00:00', '00:00'))).toBe('There is no such time on that day');
});

test.each(['9999-12-31T23:59:59.999Z', '9999-12-31T23:00:00Z'])(
  '%s, next year in this zone, is the last moment of a field',
  (instant) => {
    expect(localOf(new Date(instant))).toBe('9999-12-31T23:59:59');
    expect(momentProblem(localOf(new Date(instant)))).toBeUndefined();
  },
);

test.each([
  ['31 Dec 2026, 24:00', 'There is no such time on that day'],
  ['31 Dec 2026, 13:00 pm', 'There is no such time on that day'],
  ['31 Dec 2026, 17:60', 'There is no such time on that day'],
  // The clocks go from 02:00 to 03:00.
  ['28.3.2027 02:30', 'There is no such time on that day'],
  ['30 Feb 2027 10:00', 'There is no such day'],
  ['31 Dec 2026, 5 pm', 'Write a date and time such as 31 Dec 2026, 17:00'],
])('%j is no moment', (text, problem) => {
  expect(readMoment(text, '23:59')).toBe(text);
  expect(shownMoment(text)).toBe(text);
  expect(momentProblem(text)).toBe(problem);
});

const anyDay = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

test('every day that is shown or written in one of the forms is read as that day', () => {
  fc.assert(
    fc.property(anyDay, (day) => {
      const [year, month, date] = day.split('-').map(Number);
      const long = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(
        new Date(day),
      );
      for (const text of [day, shownDay(day), long, `${date}.${month}.${year}`, `${date}/${month}/${year}`])
        expect(readDay(text)).toBe(day);
    }),
  );
});

test('every moment that is shown is read as that moment', () => {
  fc.assert(
    fc.property(anyDay, fc.nat(23), fc.nat(59), (day, hour, minute) => {
      const text = `${shownDay(day)}, ${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
      const read = readMoment(text, '23:59');
      if (read !== text) expect(shownMoment(read)).toBe(text);
      else expect(momentProblem(text)).toBe('There is no such time on that day');
    }),
  );
});

test('nothing impossible is ever a day', () => {
  const numbers = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(9999));
  fc.assert(
    fc.property(numbers, fc.constantFrom('.', '/', '-'), ([day, month, year], sign) => {
      const read = readDay([day, month, String(year).padStart(4, '0')].join(sign));
      if (!isDay(read)) return;
      const at = new Date(`${read}T00:00:00Z`);
      expect([at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCFullYear()]).toEqual([day, month, year]);
    }),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'0123456789./- abDec'.split('')), maxLength: 14 }),
      (text) => {
        const read = readDay(text);
        if (read !== text) expect(new Date(`${read}T00:00:00Z`).toISOString().slice(0, 10)).toBe(read);
      },
    ),
  );
});

const orders: [
  language: string,
  day: string,
  moment: string,
  slashed: string | undefined,
  example: string,
][] = [
  ['en-US', 'Apr 5, 2026', 'Apr 5, 2026, 5:03 PM', '2026-04-05', 'Dec 31, 2026, 12/31/2026 or 2026-12-31'],
  ['en-GB', '5 Apr 2026', '5 Apr 2026, 17:03', '2026-05-04', '31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['de-DE', '05.04.2026', '05.04.2026, 17:03', '2026-05-04', '31.12.2026 or 2026-12-31'],
  ['ja-JP', '2026/04/05', '2026/04/05, 17:03', undefined, '2026/12/31, 31.12.2026 or 2026-12-31'],
];

test.each(orders)('dates are shown and read as in %s', (language, day, moment, slashed, example) => {
  const days = typedDaysIn(localeOf(language));
  expect(days.shownDay('2026-04-05')).toBe(day);
  expect(days.shownMoment('2026-04-05T17:03')).toBe(moment);
  expect(days.readDay('4/5/2026')).toBe(slashed ?? '4/5/2026');
  expect(days.dayProblem('soon')).toBe(`Write a date such as ${example}`);
});

const languages =
  'en-US en-GB en-CA en-AU en-IN en-ZA en-ZW en-BZ en-DK en-FI de-DE de-CH fr-FR fr-CA es-ES es-MX pt-BR nl sv da nb fi pl cs sk hu ro bg hr sr sl lt lv et el tr ru uk he ar-EG ar-SA fa-IR hi th-TH vi id ja-JP ko-KR zh-CN zh-TW bn-BD my ne'.split(
    ' ',
  );

test.each(languages)('in %s, every day and moment is read as it is shown', (language) => {
  const days = typedDaysIn(localeOf(language));
  for (const day of ['2026-09-05', '2026-12-31', '2028-02-29']) {
    expect(days.readDay(days.shownDay(day))).toBe(day);
    for (const time of ['00:00', '09:05', '12:30', '23:59', '17:03:07'])
      expect(days.readMoment(days.shownMoment(`${day}T${time}`), '23:59')).toBe(`${day}T${time}`);
  }
});
