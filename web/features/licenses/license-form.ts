import { dayMs, utcDay } from '../../../contract/durations.ts';
import { schemaResolver, type FormErrors } from '@mantine/form';
import { licenseInput, type License, type LicenseType } from '../../../contract/licenses.ts';
import { licenseLabels } from '../../field-labels.ts';
import { counted } from '../../ui/counted.ts';
import { isDay } from '../../ui/day.ts';
import { dayProblem } from '../../ui/typed-day.ts';
import type { TypedNumber } from '../../ui/typed-number.ts';
import {
  addTerm,
  dayIn,
  extended,
  midnightOf,
  type Term,
  type Terms,
} from '../../../contract/license-term.ts';
import type { LicensePayload } from './queries.ts';

export type LicenseValues = {
  customerId: string;
  /** Displayed only, never sent. */
  customerName: string;
  type: LicenseType;
  maxActivations: TypedNumber;
  /** Values of date inputs. */
  validFrom: string;
  validUntil: string;
  /** `T23:59:59.000Z`: when in its day a computed end is, where it is not when that day alone would be sent to end. */
  untilTime?: string | undefined;
  moduleIds: string[];
};

type End = Pick<LicenseValues, 'validUntil' | 'untilTime'>;

/** Initial values: those of the license, or the defaults of spec part 1, section 5. */
export function valuesOf(license: License | undefined, terms: Terms, now: Date): LicenseValues {
  if (!license) {
    const validFrom = utcDay(now);
    return {
      customerId: '',
      customerName: '',
      type: 'trial',
      maxActivations: 1,
      validFrom,
      validUntil: addTerm(validFrom, terms.trial),
      moduleIds: [],
    };
  }
  const { customerId, type, maxActivations, moduleIds } = license;
  return {
    customerId,
    customerName: license.customer?.name ?? '',
    type,
    maxActivations,
    moduleIds,
    validFrom: dayIn(license.validFrom),
    validUntil: dayIn(license.validUntil),
  };
}

/** Of a new license like this one: from today, for as long. */
export function valuesLike(license: License, terms: Terms, now: Date): LicenseValues {
  const values = valuesOf(license, terms, now);
  const validFrom = utcDay(now);
  return { ...values, validFrom, validUntil: addTerm(validFrom, termOf(values, terms)) };
}

/** By the calendar where it can be: two years from February end in February. */
function termOf({ type, validFrom, validUntil }: LicenseValues, terms: Terms): Term {
  const from = new Date(validFrom);
  const until = new Date(validUntil);
  const months =
    12 * (until.getUTCFullYear() - from.getUTCFullYear()) + until.getUTCMonth() - from.getUTCMonth();
  const byCalendar = [terms[type], { months }].find((term) => addTerm(validFrom, term) === validUntil);
  return byCalendar ?? { days: (until.getTime() - from.getTime()) / dayMs };
}

/** Changing the type or first day sets the end (spec part 1, section 4): of a trial, exactly 30 days of time. */
export function withTerm(values: LicenseValues, terms: Terms, license?: License): Partial<LicenseValues> {
  const { type, validFrom } = values;
  const from = instant(validFrom, license?.validFrom);
  const end = from ? endsAt(extended(from, terms[type]), license) : undefined;
  const isBack = type === license?.type && from === license.validFrom;
  // nothing is changed where both are as before, and the end is on its day again
  if (isBack && end?.validUntil === dayIn(license.validUntil)) end.untilTime = undefined;
  return { type, validFrom, ...end };
}

/** The end is a term later, at the time of day at which it was. */
export const extendedBy = (term: Term, values: LicenseValues, license?: License): Partial<LicenseValues> =>
  endsAt(extended(endOf(values, license), term), license);

function endsAt(at: string, license?: License): End {
  const validUntil = dayIn(at);
  return {
    validUntil,
    untilTime: at === instant(validUntil, license?.validUntil) ? undefined : at.slice(10),
  };
}

/**
 * The request body. A day that was not changed keeps its stored time of day, which another program may have chosen:
 * editing another field must not move the end of a license.
 */
export function payloadOf(values: LicenseValues, license?: License): LicensePayload {
  return {
    customerId: values.customerId,
    type: values.type,
    maxActivations: values.maxActivations as number,
    validFrom: instant(values.validFrom, license?.validFrom),
    validUntil: endOf(values, license),
    moduleIds: values.moduleIds,
  };
}

function instant(day: string, stored: string | undefined): string {
  if (!isDay(day)) return '';
  return stored && dayIn(stored) === day ? stored : midnightOf(day);
}

const endOf = ({ validUntil, untilTime }: End, license?: License): string =>
  untilTime ? validUntil + untilTime : instant(validUntil, license?.validUntil);

/** When in its day a license ends: one made by a program may end at any time. */
export function endText(values: End, license?: License): string {
  const at = endOf(values, license);
  return at === '' || at === midnightOf(dayIn(at))
    ? 'Ends when this day begins in UTC'
    : `Ends at ${at.slice(11, 16)} UTC on this day`;
}

/** How many machines are active, and what fewer seats do to them: nothing. */
export function seatsText(seats: TypedNumber, license?: License): string | undefined {
  const active = license?.currentActivations ?? 0;
  if (active === 0) return undefined;
  return typeof seats === 'number' && seats < active
    ? `${counted(active, 'active machine')} ${active === 1 ? 'keeps its seat' : 'keep their seats'}`
    : counted(active, 'active machine');
}

const checkAgainstContract = schemaResolver(licenseInput, { sync: true });

/** Errors by field, in the words of spec part 1, section 5. */
export function validate(values: LicenseValues, license?: License): FormErrors {
  return {
    ...checkAgainstContract(payloadOf(values, license)),
    ...(values.customerId ? {} : { customerId: 'Customer is required' }),
    ...wrongDay('validFrom', values),
    ...wrongDay('validUntil', values),
  };
}

function wrongDay(field: 'validFrom' | 'validUntil', values: LicenseValues): FormErrors {
  const typed = values[field];
  const problem = typed === '' ? `${licenseLabels[field]} is required` : dayProblem(typed);
  return problem ? { [field]: problem } : {};
}
