import type { FormErrors } from '@mantine/form';
import { dayMs } from '../../../contract/durations.ts';
import type { Activation } from '../../../contract/activations.ts';
import { licenseFileDays, mostSignedText } from '../../../contract/offline.ts';
import { counted } from '../../ui/counted.ts';
import { utcDate } from '../../ui/time.ts';
import { numberText, type TypedNumber } from '../../ui/typed-number.ts';

/**
 * Until when a license file may let the machine run without asking; null if there is none. An active machine holds its
 * seat until the service frees it, which a clock that jumped puts off.
 */
export const offlineUntil = (
  { status, offlineUntil: until }: Pick<Activation, 'status' | 'offlineUntil'>,
  now: Date,
): string | null => (until && (status === 'active' || Date.parse(until) > now.getTime()) ? until : null);

const { least, most } = licenseFileDays;

const isDays = (days: TypedNumber) => Number.isInteger(days) && Number(days) >= least && Number(days) <= most;

/** Errors by field, before the request is sent. */
export function checkOffline(values: { request: string; days: TypedNumber }): FormErrors {
  return {
    ...checkSigned('request', 'Request', values.request),
    ...(isDays(values.days) ? {} : { days: `Must be a whole number from ${least} to ${most}` }),
  };
}

/** The same for a field with the text of a machine. */
export function checkSigned(field: string, label: string, text: string): FormErrors {
  if (text.trim() === '') return { [field]: `${label} is required` };
  if (text.length > mostSignedText)
    return { [field]: `Too long: at most ${numberText(mostSignedText)} characters` };
  return {};
}

/**
 * Until when a machine may run with a file of so many days: for some days of grace after it, and never longer than the
 * license.
 */
export function offlineUntilText(
  days: TypedNumber,
  graceDays: number,
  validUntil: string,
  now: Date,
): string {
  const license = `the license ends, ${utcDate(validUntil)}`;
  if (!isDays(days)) return `At most until ${license}`;
  const until = now.getTime() + Number(days) * dayMs;
  const left = Math.floor((Date.parse(validUntil) - until) / dayMs);
  if (left < 0) return `Until ${license}`;
  const grace = Math.min(graceDays, left);
  const after = grace > 0 ? ` and ${counted(grace, 'day')} of grace` : '';
  return `Until ${utcDate(new Date(until).toISOString())}${after}, at most until ${license}`;
}
