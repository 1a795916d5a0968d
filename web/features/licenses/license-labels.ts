import { licenseTab } from '../../../contract/license-state.ts';
import type { License, LicenseAttention, LicenseTab, LicenseType } from '../../../contract/licenses.ts';
import { counted } from '../../ui/counted.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';
import { startsIn } from './license-expiry.ts';

/** Labels of types and states, and the color of their badge. */
export const typeBadges: Record<LicenseType, { tone: Tone; word: string }> = {
  trial: { tone: 'violet', word: 'Trial' },
  enterprise: { tone: 'neutral', word: 'Enterprise' },
};

export const stateBadges: Record<LicenseTab, { tone: Tone; word: string }> = {
  active: { tone: 'teal', word: 'Active' },
  revoked: { tone: 'red', word: 'Revoked' },
  expired: { tone: 'amber', word: 'Expired' },
};

/** Which licenses the filter `attention` shows. */
export const attentionNotes: Record<LicenseAttention, string> = {
  ended: 'Ended within 7 days, and machines still ask',
  full: 'Full, and refused a machine within 3 days',
  offline: 'Offline seats end within 7 days',
};

/** The state of a license at `now` as text: one that is not yet valid is not called active. */
export function stateBadge(license: License, now: Date): { tone: Tone; word: string } {
  const start = startsIn(license, now);
  return start ? { tone: 'neutral', word: `Starts in ${start}` } : stateBadges[licenseTab(license, now)];
}

const unknownCustomers = 'Unknown Customers (Deleted)';

/** The customer of a license, marked when it is deleted (spec part 1, section 2). */
export function ownerText(customer: License['customer'] | undefined): string {
  if (!customer) return unknownCustomers;
  return customer.deletedAt ? `${customer.name} (Deleted)` : customer.name;
}

export const countOf = (n: number): string => counted(n, 'license');
