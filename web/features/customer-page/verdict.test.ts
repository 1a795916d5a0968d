import { expect, test } from 'vitest';
import type { CustomerOverview } from '../../../contract/customer-page.ts';
import { verdictOf } from './verdict.ts';

const now = new Date('2026-11-20T09:30:00Z');
const seats = { licenses: 2, used: 3, max: 10, nextEnd: '2027-06-01T00:00:00.000Z' };
const refused = { total: 0, groups: 0, latest: [] };
const said = (changes: object) =>
  verdictOf(
    {
      customer: { deletedAt: null, licenseCount: 2 },
      machines: 3,
      seats,
      refused,
      ...changes,
    } as unknown as CustomerOverview,
    now,
  )?.sentence;

test.each([
  // seats on licenses that are not valid are not in use
  [{ machines: 11 }, '3 seats are in use, and no machine was refused in the last 30 days.'],
  [{ seats: { ...seats, used: 1 } }, '1 seat is in use, and no machine was refused in the last 30 days.'],
  [{ seats: { ...seats, nextEnd: '2026-12-01T00:00:00.000Z' } }, 'A license ends on 1 Dec 2026.'],
  [{ refused: { ...refused, total: 1 } }, '1 validation was refused in the last 30 days.'],
  [{ refused: { ...refused, total: 20 } }, '20 validations were refused in the last 30 days.'],
  [
    { seats: { ...seats, used: 10 }, refused: { ...refused, total: 1 } },
    'All seats are in use: a further machine is refused.',
  ],
  [
    { seats: { licenses: 0, used: 0, max: 0, nextEnd: null } },
    'None of its licenses is valid: its machines are refused from their next check.',
  ],
  [
    {
      customer: { deletedAt: null, licenseCount: 0 },
      seats: { licenses: 0, used: 0, max: 0, nextEnd: null },
    },
    'It has no license yet.',
  ],
  [
    { customer: { deletedAt: '2026-11-01T12:00:00.000Z', licenseCount: 2 } },
    'Soft-deleted on 1 Nov 2026: its machines are refused from their next check until it is restored.',
  ],
  [{ seats: null, machines: null, refused: null }, undefined],
])('%j: %s', (changes, sentence) => expect(said(changes)).toBe(sentence));
