import type { License, SeatFilter } from '../../../contract/licenses.ts';
import { counted } from '../../ui/counted.ts';
import { chipsOf } from '../../ui/filter-chips.ts';
import { attentionNotes, typeBadges } from './license-labels.ts';
import type { LicenseListSearch } from './licenses-search.ts';

export const seatLabels: Record<SeatFilter, string> = { full: 'Full', high: 'Above 75 %', empty: 'Empty' };
export const unseenLabel = (days: string): string => `Not seen for ${counted(Number(days), 'day')}`;

/** The filters that are set. The name of the customer comes from a row where possible, without a request. */
export function licenseChips(search: LicenseListSearch, rows?: License[]) {
  const { type, customer, expiring, seats, unseen, attention } = search;
  return chipsOf({
    type: type && `Type: ${typeBadges[type].word}`,
    customer: customer && `Customer: ${customerNameOf(customer, rows) ?? 'the chosen one'}`,
    expiring: expiring && `Expires within ${expiring} days`,
    seats: seats && `Seats: ${seatLabels[seats]}`,
    unseen: unseen && unseenLabel(unseen),
    attention: attention && attentionNotes[attention],
  });
}

export const customerNameOf = (customerId: string | undefined, rows: License[] | undefined) =>
  customerId ? rows?.find((row) => row.customerId === customerId)?.customer?.name : undefined;
