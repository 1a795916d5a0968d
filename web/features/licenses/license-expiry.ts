import { licenseTab, type License } from '../../../contract/licenses.ts';

/** Spec part 1, section 9. */
const expiryWarningDays = 30;
const day = 86_400_000;

/**
 * The N of `Expires in N days`, for an active license with 30 days or fewer left; otherwise undefined. A day that
 * has begun counts, so that the badge never promises less than what is left.
 */
export function expiresInDays(
  license: Pick<License, 'status' | 'validUntil'>,
  now: Date,
): number | undefined {
  if (licenseTab(license, now) !== 'active') return undefined;
  const left = Date.parse(license.validUntil) - now.getTime();
  return left <= expiryWarningDays * day ? Math.ceil(left / day) : undefined;
}
