import { counted } from '../../ui/counted.ts';
import { dayMs } from '../../../contract/durations.ts';
import { licenseTab } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';
import { utcDaysTo } from '../../ui/time.ts';

/** Spec part 1, section 9. */
const expiryWarningDays = 30;

/** Follows `Expires in` for an active license with 30 days or fewer left; otherwise undefined. */
export function expiresIn(license: Pick<License, 'status' | 'validUntil'>, now: Date): string | undefined {
  if (licenseTab(license, now) !== 'active') return undefined;
  const left = Date.parse(license.validUntil) - now.getTime();
  return left <= expiryWarningDays * dayMs ? daysIn(license.validUntil, now) : undefined;
}

/** Follows `Starts in` for a license that is not revoked and not yet valid; otherwise undefined. */
export function startsIn(
  license: Pick<License, 'status' | 'validFrom' | 'validUntil'>,
  now: Date,
): string | undefined {
  const left = Date.parse(license.validFrom) - now.getTime();
  return licenseTab(license, now) === 'active' && left > 0 ? daysIn(license.validFrom, now) : undefined;
}

/** To the day that lists and Today name; the last hours are `1 day`. */
const daysIn = (iso: string, now: Date): string => counted(Math.max(1, utcDaysTo(iso, now)), 'day');
