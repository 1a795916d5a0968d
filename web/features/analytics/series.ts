import { dayMs, daysFrom, utcDay } from '../../../contract/durations.ts';
import type { CustomerUse, LicenseTrends } from '../../../contract/analytics.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import { compareVersions, isVersion } from '../../../contract/versions.ts';
import { compareTexts } from '../../ui/locale.ts';

/* Converts figures to chart data. */

export const periods = ['week', 'month', 'year'] as const;
export type Period = (typeof periods)[number];

type Series = LicenseTrends['activations'];
type Codes = LicenseTrends['codes'];

/** From 7 days, 1 month or 1 year ago to today, as UTC days (spec part 2, section 4). */
export function daysOf(period: Period, today: Date): { startDate: string; endDate: string } {
  const start = new Date(utcDay(today));
  if (period === 'week') start.setUTCDate(start.getUTCDate() - 7);
  else {
    const wanted = start.getUTCDate();
    if (period === 'month') start.setUTCMonth(start.getUTCMonth() - 1);
    else start.setUTCFullYear(start.getUTCFullYear() - 1);
    // A day that the month does not have overflowed into the next month: use the last day instead.
    if (start.getUTCDate() !== wanted) start.setUTCDate(0);
  }
  return { startDate: utcDay(start), endDate: utcDay(today) };
}

/**
 * The same days as many whole weeks earlier as the period has: beside a Saturday lies a Saturday. The days that a period
 * has besides its weeks are in both.
 */
export function periodBefore({ startDate, endDate }: { startDate: string; endDate: string }) {
  const days = (Date.parse(endDate) - Date.parse(startDate)) / dayMs + 1;
  const weeks = Math.floor(days / 7);
  const earlier = (date: string) => utcDay(daysFrom(new Date(date), -7 * weeks));
  return { startDate: earlier(startDate), endDate: earlier(endDate) };
}

/** Monday of the week of a UTC day, as the weeks of the service begin. */
function weekOf(period: string): string {
  const at = new Date(period);
  return utcDay(daysFrom(at, -((at.getUTCDay() + 6) % 7)));
}

const validationsByDay = (codes: Codes) => {
  const totals = new Map<string, { all: number; valid: number }>();
  for (const { period, code, count } of codes) {
    const { all, valid } = totals.get(period) ?? { all: 0, valid: 0 };
    totals.set(period, { all: all + count, valid: valid + (code === 'VALID' ? count : 0) });
  }
  return totals;
};

/** The average of a series in which each day counts as often as it had validations. */
function average(series: Series, codes: Codes): number {
  const totals = validationsByDay(codes);
  let sum = 0;
  let all = 0;
  for (const { period, count } of series) {
    const weight = totals.get(period)?.all ?? 0;
    sum += count * weight;
    all += weight;
  }
  return all === 0 ? 0 : sum / all;
}

/** Refused validations in percent, and the average response time in ms, over the whole period. */
export function totalsOf({ codes, responseTime }: LicenseTrends) {
  const days = [...validationsByDay(codes).values()];
  const all = days.reduce((sum, one) => sum + one.all, 0);
  const valid = days.reduce((sum, one) => sum + one.valid, 0);
  return {
    errorRate: all === 0 ? 0 : (100 * (all - valid)) / all,
    avgResponseTime: average(responseTime, codes),
  };
}

/** Whether these are the days of a year, which are shown by week: of a month there are 32 at most. */
export const isYear = ({ activations }: LicenseTrends): boolean => activations.length > 32;

/**
 * The same figures by week, from the first whole week on: the busiest day for what is counted once a day, an average by
 * validations for rates, a sum for refusals.
 */
export function inWeeks(trends: LicenseTrends): LicenseTrends {
  const { codes } = trends;
  const first = trends.activations[0]?.period ?? '';
  const isWhole = (period: string) => weekOf(period) >= first;
  const weekly = (series: Series, figure: (days: Series) => number): Series => {
    const weeks = new Map<string, Series>();
    for (const one of series) {
      const week = weekOf(one.period);
      if (isWhole(one.period)) weeks.set(week, [...(weeks.get(week) ?? []), one]);
    }
    return [...weeks].map(([period, days]) => ({ period, count: figure(days) }));
  };
  const busiest = (days: Series) => Math.max(...days.map(({ count }) => count));
  const averaged = (days: Series) => average(days, codes);
  const sums = new Map<string, Codes[number]>();
  for (const { period, code, count } of codes) {
    if (!isWhole(period)) continue;
    const week = weekOf(period);
    const key = `${week} ${code}`;
    sums.set(key, { period: week, code, count: count + (sums.get(key)?.count ?? 0) });
  }
  return {
    activations: weekly(trends.activations, busiest),
    customers: weekly(trends.customers, busiest),
    licenses: weekly(trends.licenses, busiest),
    successRate: weekly(trends.successRate, averaged),
    responseTime: weekly(trends.responseTime, averaged),
    codes: [...sums.values()],
  };
}

/** The figures of the period before, by the day or week of this period in the same place. */
export function besides(
  { activations: now }: LicenseTrends,
  before: LicenseTrends | undefined,
  name: 'activations' | 'successRate' | 'responseTime',
): Map<string, number> {
  const found = new Map(before?.[name].map(({ period, count }) => [period, count]));
  const offset = (before?.activations.length ?? 0) - now.length;
  return new Map(
    now.flatMap(({ period }, index) => {
      const count = found.get(before?.activations[index + offset]?.period ?? '');
      return count === undefined ? [] : [[period, count] as const];
    }),
  );
}

/** One row per day or week of the period with a column for each code that occurred, the most frequent first. */
export function codesByDay({ activations, codes }: Pick<LicenseTrends, 'activations' | 'codes'>) {
  const totals = new Map<ValidationCode, number>();
  const days = new Map<string, Record<string, number>>();
  for (const { period, code, count } of codes) {
    totals.set(code, (totals.get(code) ?? 0) + count);
    days.set(period, { ...days.get(period), [code]: count });
  }
  const failing = [...totals].filter(([code]) => code !== 'VALID').toSorted((a, b) => b[1] - a[1]);
  const names = failing.map(([code]) => code);
  const rows = activations.map(({ period }) => ({
    period,
    counts: Object.fromEntries(names.map((name) => [name, days.get(period)?.[name] ?? 0])),
  }));
  return { names, rows };
}

/** One row per customer with a column for each version, the newest first; what desktops report may be no version. */
export function versionsByCustomer(versions: CustomerUse['versions']) {
  const names = [...new Set(versions.map((v) => v.appVersion))].toSorted(newestFirst);
  // two customers may have one name
  const customers = new Map(versions.map((v) => [v.customerId, v.company]));
  const machinesOf = (customerId: string, appVersion: string) =>
    versions.find((v) => v.customerId === customerId && v.appVersion === appVersion);
  return {
    names,
    rows: [...customers].map(([customerId, company]) => ({
      customerId,
      company,
      figures: names.map((name) => figureOf(machinesOf(customerId, name))),
    })),
  };
}

const newestFirst = (a: string, b: string) =>
  isVersion(a) && isVersion(b)
    ? compareVersions(b, a)
    : Number(isVersion(b)) - Number(isVersion(a)) || compareTexts(b, a);

const figureOf = (found: CustomerUse['versions'][number] | undefined) => ({
  all: found?.machines ?? 0,
  proven: found?.provenMachines ?? 0,
});
