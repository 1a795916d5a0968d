import { expect, test } from 'vitest';
import type { License } from '../../../contract/licenses.ts';
import { conflictRows } from './license-conflict.ts';

const details = [
  { path: 'customerId', message: 'Was changed by someone else', current: 'theirs', yours: 'yours' },
  { path: 'maxActivations', message: 'Was changed by someone else', current: 9, yours: 5 },
];
const ownedBy = (customerId: string, name: string) =>
  ({ customerId, customer: { name, deletedAt: null } }) as License;

test.each([
  ['Bethesda', ownedBy('theirs', 'Bethesda')],
  ['another customer', ownedBy('before', 'Augusta')],
  ['another customer', undefined],
])('their customer is %s until the stored license has come', (theirs, stored) => {
  expect(conflictRows({ details }, stored, 'Charité')).toEqual([
    { field: 'Customer', theirs, yours: 'Charité' },
    { field: 'Max Activations', theirs: '9', yours: '5' },
  ]);
});
