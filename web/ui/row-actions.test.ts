import { expect, test } from 'vitest';
import { inOrder, keysOfActions, type RowAction } from './row-actions.ts';

const run = () => {};
const open: RowAction = { label: 'Open', key: 'Enter', run };
const revoke: RowAction = { label: 'Revoke', key: 'r', danger: true, run };
const edit: RowAction = { label: 'Edit', key: 'e', run };

test('dangerous actions come last, the others keep their order, and missing ones are left out', () => {
  expect(inOrder([open, revoke, false, edit, null, undefined]).map(({ label }) => label)).toEqual([
    'Open',
    'Edit',
    'Revoke',
  ]);
});

test('the help lists each key of the rows once, with every name that it has', () => {
  const reactivate: RowAction = { label: 'Reactivate', key: 'r', run };
  expect(keysOfActions([[open, revoke], [open, edit, reactivate], [revoke]])).toEqual([
    { keys: ['Enter'], meaning: 'Open' },
    { keys: ['r'], meaning: 'Revoke / Reactivate' },
    { keys: ['e'], meaning: 'Edit' },
  ]);
});

test('the help lists Enter for the main action of a row, beside its key', () =>
  expect(keysOfActions([[{ ...edit, isMain: true }], [edit]])).toEqual([
    { keys: ['Enter'], meaning: 'Edit' },
    { keys: ['e'], meaning: 'Edit' },
  ]));

test('the help shows the key of an action without a question as a key of the menu', () => {
  const extend: RowAction = { label: 'Extend', key: 'y', atOnce: true, run };
  expect(keysOfActions([[extend, edit]])).toEqual([
    { keys: ['m', 'y'], meaning: 'Extend' },
    { keys: ['e'], meaning: 'Edit' },
  ]);
});
