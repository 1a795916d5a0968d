import { expect, test } from 'vitest';
import { withRecord } from './with-record.ts';

const before = { id: 'a', name: 'Kim', updatedAt: '2026-11-20T10:00:00.000Z' };
const other = { ...before, id: 'b' };
const after = { ...before, name: 'Kim S.', updatedAt: '2026-11-20T10:00:01.000Z' };

test('a changed record takes the place of its older versions, alone, in a list and within another', () => {
  expect(withRecord(before, after)).toEqual(after);
  expect(withRecord([other, before], after)).toEqual([other, after]);
  expect(withRecord({ data: [before], meta: { total: 1 } }, after)).toEqual({
    data: [after],
    meta: { total: 1 },
  });
});

test('so does a license that went to another customer', () => {
  const seen = { licenseId: 'l', customerId: 'c', updatedAt: before.updatedAt };
  const moved = { licenseId: 'l', customerId: 'd', updatedAt: after.updatedAt };
  expect(withRecord([seen], moved)).toEqual([moved]);
});

test.each([
  ['a newer version, as after a repeated request', [after], before],
  ['the same version', [after], after],
  ['another record', [other], after],
  ['what has more fields, as a row with counts', [{ ...before, machines: 3 }], after],
  [
    'a license of the same customer',
    [{ ...before, customerId: 'c' }],
    { ...after, id: 'z', customerId: 'c' },
  ],
  [
    'what has no id, as the settings of channels',
    [{ updatedAt: before.updatedAt }],
    { updatedAt: after.updatedAt },
  ],
  ['no records', ['a', null, 3], after],
])('%s stays, as the same object', (_, data, record) => expect(withRecord(data, record)).toBe(data));
