import { describe, expect, it } from 'vitest';
import type { License } from '../../../contract/licenses.ts';
import {
  endText,
  extendedBy,
  payloadOf,
  seatsText,
  validate,
  valuesLike,
  valuesOf,
  withTerm,
  type LicenseValues,
} from './license-form.ts';
import { extended, extensions, modalTerms, pageTerms } from '../../../contract/license-term.ts';

const now = new Date('2026-11-20T22:15:00.000Z');
const customerId = '0198a000-0000-7000-8000-000000000001';
const fresh = valuesOf(undefined, modalTerms, now);
const filled: LicenseValues = { ...fresh, customerId };

const license: License = {
  licenseId: '0198a000-0000-7000-8000-000000000002',
  licenseKey: 'E0000-00000-00000-00000-00000',
  customerId,
  customer: { name: 'Northside', deletedAt: null },
  type: 'enterprise',
  status: 'active',
  validFrom: '2026-01-01T12:34:56.000Z',
  validUntil: '2027-01-01T23:59:59.999Z',
  maxActivations: 3,
  currentActivations: 0,
  moduleIds: ['mod_b', 'mod_a'],
  createdAt: '2026-01-01T12:34:56.000Z',
  updatedAt: '2026-01-01T12:34:56.000Z',
};

it('says when in its day a license ends, by the stored time until another day is chosen', () => {
  const begins = 'Ends when this day begins in UTC';
  expect(endText({ validUntil: '2027-01-01' }, license)).toBe('Ends at 23:59 UTC on this day');
  expect(endText({ validUntil: '2027-01-02' }, license)).toBe(begins);
  expect(endText({ validUntil: '2027-01-01' })).toBe(begins);
  expect(endText({ validUntil: '' }, license)).toBe(begins);
  const atMidnight = { ...license, validUntil: '2027-01-01T00:00:00.000Z' };
  expect(endText({ validUntil: '2027-01-01' }, atMidnight)).toBe(begins);
});

it('says how many machines are active, and that fewer activations take no seat from them', () => {
  const used = { ...license, currentActivations: 3 };
  expect(seatsText(3, used)).toBe('3 active machines');
  expect(seatsText('', used)).toBe('3 active machines');
  expect(seatsText(2, used)).toBe('3 active machines keep their seats');
  expect(seatsText(1)).toBeUndefined();
  expect(seatsText(1, license)).toBeUndefined();
});

describe('a new license like another', () => {
  const like = (validFrom: string, validUntil: string, type: License['type'] = 'enterprise') =>
    valuesLike({ ...license, type, validFrom, validUntil }, modalTerms, now).validUntil;

  it('has its customer, type, seats and modules, and begins today', () => {
    expect(valuesLike(license, modalTerms, now)).toEqual({
      ...valuesOf(license, modalTerms, now),
      validFrom: '2026-11-20',
      validUntil: '2027-11-20',
    });
  });

  it('lasts as long: the usual term of its type, else whole months, else days', () => {
    expect(like('2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z', 'trial')).toBe('2026-12-20');
    expect(like('2027-02-28T00:00:00Z', '2029-02-28T08:00:00Z')).toBe('2028-11-20');
    expect(like('2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z')).toBe('2026-12-20');
    expect(like('2026-01-01T00:00:00Z', '2026-02-15T00:00:00Z')).toBe('2027-01-04');
  });
});

describe('a new license', () => {
  it('begins as a trial of one machine from today for 30 days', () => {
    expect(fresh).toEqual({
      customerId: '',
      customerName: '',
      type: 'trial',
      maxActivations: 1,
      validFrom: '2026-11-20',
      validUntil: '2026-12-20',
      moduleIds: [],
    });
  });

  it('follows its type and first day, by the terms of the modal or of the page', () => {
    expect(withTerm({ ...fresh, type: 'enterprise' }, modalTerms).validUntil).toBe('2027-11-20');
    expect(withTerm({ ...fresh, type: 'enterprise' }, pageTerms).validUntil).toBe('2026-12-20');
    expect(withTerm({ ...fresh, validFrom: '2027-01-31' }, modalTerms).validUntil).toBe('2027-03-02');
    expect(withTerm({ ...fresh, validFrom: '' }, modalTerms)).toEqual({ type: 'trial', validFrom: '' });
  });

  it('is sent with ISO timestamps', () => {
    expect(payloadOf(filled)).toMatchObject({
      validFrom: '2026-11-20T00:00:00.000Z',
      validUntil: '2026-12-20T00:00:00.000Z',
      moduleIds: [],
    });
  });
});

describe('validate', () => {
  it('accepts what is complete', () => {
    expect(validate(filled)).toEqual({});
  });

  it.each([
    [{ customerId: '' }, { customerId: 'Customer is required' }],
    [{ maxActivations: '' }, { maxActivations: 'Max activations is required' }],
    [{ maxActivations: 0 }, { maxActivations: 'Must be at least 1' }],
    [{ maxActivations: -3 }, { maxActivations: 'Must be at least 1' }],
    [{ validUntil: '2026-11-20' }, { validUntil: 'Must be after Valid From' }],
    [{ validFrom: '' }, { validFrom: 'Valid From is required' }],
    [{ validUntil: '' }, { validUntil: 'Valid Until is required' }],
    [{ validUntil: '31 Feb 2027' }, { validUntil: 'There is no such day' }],
    [{ maxActivations: '1e3' }, { maxActivations: 'Must be a number, written in digits' }],
    [{ maxActivations: 1.5 }, { maxActivations: 'Must be a whole number' }],
  ] satisfies [Partial<LicenseValues>, object][])('refuses %o', (wrong, errors) => {
    expect(validate({ ...filled, ...wrong })).toEqual(errors);
  });
});

describe('an edit', () => {
  const values = valuesOf(license, modalTerms, now);

  it('that changes nothing sends what is stored, to the millisecond', () => {
    const { customerId: owner, type, validFrom, validUntil, maxActivations, moduleIds } = license;
    expect(payloadOf(values, license)).toEqual({
      customerId: owner,
      type,
      validFrom,
      validUntil,
      maxActivations,
      moduleIds,
    });
  });

  it('sends the beginning of a day that was chosen', () => {
    expect(payloadOf({ ...values, validUntil: '2027-02-01' }, license).validUntil).toBe(
      '2027-02-01T00:00:00.000Z',
    );
  });

  const edited = (changes: Partial<LicenseValues>) => ({ ...values, ...changes });
  const sentEnd = (changes: Partial<LicenseValues>) => payloadOf(edited(changes), license).validUntil;

  it('that extends the license keeps the time of day at which it ends', () => {
    const year = extendedBy(extensions[1].term, values, license);
    expect(sentEnd(year)).toBe(extended(license.validUntil, { months: 12 }));
    expect(endText(edited(year), license)).toBe('Ends at 23:59 UTC on this day');
    expect(sentEnd(extendedBy(extensions[0].term, edited(year), license))).toBe('2028-01-31T23:59:59.999Z');
    const typed = edited({ validUntil: '2027-02-01' });
    expect(sentEnd(extendedBy(extensions[1].term, typed, license))).toBe('2028-02-01T00:00:00.000Z');
  });

  it('of the type or the first day ends the whole of its term after its first moment', () => {
    const trial = withTerm(edited({ type: 'trial' }), modalTerms, license);
    expect(sentEnd(trial)).toBe(extended(license.validFrom, modalTerms.trial));
    const again = withTerm(edited({ ...trial, type: 'enterprise' }), modalTerms, license);
    expect(sentEnd(again)).toBe(license.validUntil);
    const chosen = withTerm(edited({ validFrom: '2026-03-01' }), modalTerms, license);
    expect(sentEnd(chosen)).toBe('2027-03-01T00:00:00.000Z');
  });

  it('that computes what is stored is none', () => {
    const midnight = {
      ...license,
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2027-01-01T00:00:00.000Z',
    };
    const stored = valuesOf(midnight, modalTerms, now);
    expect({ ...stored, ...withTerm(stored, modalTerms, midnight) }).toEqual(stored);
  });
});
