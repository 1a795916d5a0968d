import { licenseTypes, type License, type SeatFilter } from '../../../contract/licenses.ts';
import { oneOf } from '../../search-params.ts';
import { typeBadges } from './license-labels.ts';
import type { LicenseListSearch, unseenDays } from './licenses-search.ts';

export const seatLabels: Record<SeatFilter, string> = { full: 'Full', high: 'Above 75 %', empty: 'Empty' };
export const unseenLabel = (days: (typeof unseenDays)[number]): string => `Not seen for ${days} days`;

const names = ['type', 'customer', 'expiring', 'seats', 'unseen'] as const;
export const noFilters: LicenseListSearch = Object.fromEntries(names.map((name) => [name, undefined]));

/** The filters that are set. The name of the customer comes from a row where possible, without a request. */
export function licenseChips(search: LicenseListSearch, rows: License[] | undefined) {
  const type = oneOf(licenseTypes, search.type);
  const { customer, expiring, seats, unseen } = search;
  const labels: Record<(typeof names)[number], string | undefined> = {
    type: type && `Type: ${typeBadges[type].word}`,
    customer: customer && `Customer: ${customerNameOf(customer, rows) ?? 'the chosen one'}`,
    expiring: expiring && `Expires within ${expiring} days`,
    seats: seats && `Seats: ${seatLabels[seats]}`,
    unseen: unseen && unseenLabel(unseen),
  };
  return names.flatMap((name) => {
    const label = labels[name];
    return label ? [{ name, label }] : [];
  });
}

export const customerNameOf = (customerId: string | undefined, rows: License[] | undefined) =>
  customerId ? rows?.find((row) => row.customerId === customerId)?.customer?.name : undefined;
