import type { License } from '../../../contract/licenses.ts';
import { licenseRefusal } from '../../../contract/license-state.ts';

/** A day on the line of a license: where it lies, 0 to 100. */
export type Mark = { label: string; at: string; percent: number };

/**
 * The days of a license, and the end of its grace if it has one now, on a line from the first of them to the last; days
 * outside its validity included.
 */
export function validityMarks(
  license: Pick<License, 'createdAt' | 'validFrom' | 'validUntil'>,
  now: Date,
  graceEnd?: string,
): Mark[] {
  const days = [
    { label: 'Created', at: license.createdAt },
    { label: 'Valid from', at: license.validFrom },
    { label: 'Today', at: now.toISOString() },
    ...(graceEnd ? [{ label: 'Grace ends', at: graceEnd }] : []),
    { label: 'Valid until', at: license.validUntil },
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const [first, last] = [days[0], days.at(-1)].map((day) => Date.parse(day?.at ?? ''));
  const start = first ?? 0;
  const length = Math.max((last ?? 0) - start, 1);
  return days.map((day) => ({ ...day, percent: ((Date.parse(day.at) - start) / length) * 100 }));
}

/**
 * Until when a machine may rely on an answer of now, if it cannot ask again: for the time of grace, and never past the end.
 * Undefined where a machine would be refused now.
 */
export function graceUntil(
  license: Pick<License, 'status' | 'validFrom' | 'validUntil' | 'customer'>,
  now: Date,
  graceMs: number,
): string | undefined {
  if (licenseRefusal.activateOffline(license, now)) return undefined;
  const until = Date.parse(license.validUntil);
  return new Date(Math.min(now.getTime() + graceMs, until)).toISOString();
}
