import { expect, test } from 'vitest';
import type { TransferImpact } from '../../../contract/licenses.ts';
import { transferSentences } from './transfer-sentences.ts';

const updates = { machines: 0, changed: 0, held: 0, isComplete: true };
const said = (changes: object) =>
  transferSentences(
    { to: { name: 'New' }, machines: 0, policy: null, updates, ...changes } as unknown as TransferImpact,
    'Old',
  ).slice(0, -1);

test.each([
  [{}, ['No machine holds a seat on it.']],
  [{ machines: 1 }, ['1 machine keeps its seat, and belongs to New.']],
  [{ to: { name: null }, machines: 1 }, ['1 machine keeps its seat, and belongs to the new customer.']],
  [
    {
      machines: 3,
      policy: { from: ['Old says.'], to: ['New says.'] },
      updates: { ...updates, machines: 3, changed: 2, held: 1 },
    },
    [
      '3 machines keep their seats, and belong to New.',
      'The update policy of Old no longer applies to them.',
      'New says.',
      '2 of 3 machines would be offered another release, 1 of them none for now.',
    ],
  ],
  [
    { machines: 2, updates: { ...updates, machines: 2, isComplete: false } },
    [
      '2 machines keep their seats, and belong to New.',
      'None of the first 2 machines would be offered another release.',
    ],
  ],
])('%j', (changes, sentences) => expect(said(changes)).toEqual(sentences));
