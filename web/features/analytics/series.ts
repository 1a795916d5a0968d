import type { CustomerUse, LicenseTrends } from '../../../contract/analytics.ts';
import { compareVersions } from '../../ui/locale.ts';

/* Converts figures to chart data. */

export const periods = ['week', 'month', 'year'] as const;
export type Period = (typeof periods)[number];

const day = (date: Date) => date.toISOString().slice(0, 10);

/** From 7 days, 1 month or 1 year ago to today, as UTC days (spec part 2, section 4). */
export function daysOf(period: Period, today: Date): { startDate: string; endDate: string } {
  const start = new Date(day(today));
  if (period === 'week') start.setUTCDate(start.getUTCDate() - 7);
  else {
    const wanted = start.getUTCDate();
    if (period === 'month') start.setUTCMonth(start.getUTCMonth() - 1);
    else start.setUTCFullYear(start.getUTCFullYear() - 1);
    // A day that the month does not have overflowed into the next month: use the last day instead.
    if (start.getUTCDate() !== wanted) start.setUTCDate(0);
  }
  return { startDate: day(start), endDate: day(today) };
}

/** One row per day with a column for each code that occurred, the most frequent first. */
export function codesByDay(codes: LicenseTrends['codes']) {
  const totals = new Map<string, number>();
  const days = new Map<string, Record<string, number>>();
  for (const { period, code, count } of codes) {
    totals.set(code, (totals.get(code) ?? 0) + count);
    days.set(period, { ...days.get(period), [code]: count });
  }
  const failing = [...totals].filter(([code]) => code !== 'VALID').toSorted((a, b) => b[1] - a[1]);
  const names = failing.map(([code]) => code);
  const rows = [...days].map(([period, counts]) => ({
    period,
    counts: Object.fromEntries(names.map((name) => [name, counts[name] ?? 0])),
  }));
  return { names, rows };
}

/** One row per customer with a column for each version, the newest first. */
export function versionsByCustomer(versions: CustomerUse['versions']) {
  const names = [...new Set(versions.map((v) => v.appVersion))].toSorted((a, b) => compareVersions(b, a));
  const customers = [...new Set(versions.map((v) => v.company))];
  const machinesOf = (company: string, appVersion: string) =>
    versions.find((v) => v.company === company && v.appVersion === appVersion);
  return {
    names,
    rows: customers.map(
      (company) => [company, ...names.map((name) => figureOf(machinesOf(company, name)))] as const,
    ),
  };
}

const figureOf = (found: CustomerUse['versions'][number] | undefined) => ({
  all: found?.machines ?? 0,
  proven: found?.provenMachines ?? 0,
});
