import { counted } from '../../ui/counted.ts';
import { dayMs, hourMs } from '../../../contract/durations.ts';
import { licenseTab } from '../../../contract/license-state.ts';
import type { License } from '../../../contract/licenses.ts';

/** Spec part 1, section 9. */
const expiryWarningDays = 30;

/**
 * Follows `Expires in` for an active license with 30 days or fewer left; otherwise undefined. A started day counts as a
 * whole; on the last day the unit is hours, in the last hour minutes.
 */
export function expiresIn(license: Pick<License, 'status' | 'validUntil'>, now: Date): string | undefined {
  if (licenseTab(license, now) !== 'active') return undefined;
  const left = Date.parse(license.validUntil) - now.getTime();
  return left <= expiryWarningDays * dayMs ? timeLeft(left) : undefined;
}

/** Follows `Starts in` for a license that is not revoked and not yet valid; otherwise undefined. */
export function startsIn(
  license: Pick<License, 'status' | 'validFrom' | 'validUntil'>,
  now: Date,
): string | undefined {
  const left = Date.parse(license.validFrom) - now.getTime();
  return licenseTab(license, now) === 'active' && left > 0 ? timeLeft(left) : undefined;
}

const units = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', 60_000],
] as const;

/** `10 days`, `5 hours`, `1 minute`: in the largest unit with at least one left, rounded up. */
function timeLeft(ms: number): string {
  const [unit, length] = units.find((one) => ms >= one[1]) ?? units[2];
  return counted(Math.max(1, Math.ceil(ms / length)), unit);
}
