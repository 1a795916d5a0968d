import type { License } from '../../../contract/licenses.ts';

/** A day on the line of a license: where it lies, 0 to 100. */
export type Mark = { label: string; at: string; percent: number };

/** The days of a license on a line from the first of them to the last; days outside its validity included. */
export function validityMarks(
  license: Pick<License, 'createdAt' | 'validFrom' | 'validUntil'>,
  now: Date,
): Mark[] {
  const days = [
    { label: 'Created', at: license.createdAt },
    { label: 'Valid from', at: license.validFrom },
    { label: 'Today', at: now.toISOString() },
    { label: 'Valid until', at: license.validUntil },
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const [first, last] = [days[0], days.at(-1)].map((day) => Date.parse(day?.at ?? ''));
  const start = first ?? 0;
  const length = Math.max((last ?? 0) - start, 1);
  return days.map((day) => ({ ...day, percent: ((Date.parse(day.at) - start) / length) * 100 }));
}
