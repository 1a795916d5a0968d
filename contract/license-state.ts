import type { License, LicenseTab } from './licenses.ts';

// Without schemas, because lists load it: see decision record 67.

/** The tab of a license at `now`: expired means not revoked and with `validUntil` in the past. */
export function licenseTab(l: Pick<License, 'status' | 'validUntil'>, now: Date): LicenseTab {
  if (l.status === 'revoked') return 'revoked';
  return Date.parse(l.validUntil) < now.getTime() ? 'expired' : 'active';
}

type LicenseState = Pick<License, 'status' | 'customer'>;
const ownerGone = (l: LicenseState) =>
  !l.customer || l.customer.deletedAt ? 'Customer is soft-deleted' : null;

/**
 * Why an action on a license is refused in its present state; null when it is allowed (spec part 1, sections 2 and 4).
 * The server enforces it, the console shows it.
 */
export const licenseRefusal = {
  update: (l: LicenseState) =>
    ownerGone(l) ?? (l.status === 'revoked' ? 'Revoked licenses cannot be edited' : null),
  transfer: (l: LicenseState) =>
    ownerGone(l) ?? (l.status === 'revoked' ? 'Revoked licenses cannot be transferred' : null),
  revoke: (l: LicenseState) => ownerGone(l) ?? (l.status === 'revoked' ? 'License is already revoked' : null),
  reactivate: (l: LicenseState) =>
    ownerGone(l) ?? (l.status === 'active' ? 'License is already active' : null),
  delete: (l: LicenseState) => (l.status === 'active' ? 'Revoke the license before deleting it' : null),
  /** Issuing license files: refused where a validation of any machine would be. */
  activateOffline: (l: LicenseState & Pick<License, 'validFrom' | 'validUntil'>, now: Date) =>
    ownerGone(l) ??
    (l.status === 'revoked' ? 'License is revoked' : null) ??
    (Date.parse(l.validFrom) > now.getTime() ? 'License is not yet valid' : null) ??
    (Date.parse(l.validUntil) < now.getTime() ? 'License has expired' : null),
};
