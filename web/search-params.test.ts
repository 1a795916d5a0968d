import { describe, expect, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { writeCursor } from '../contract/audit-cursor.ts';
import { machineStandings } from '../contract/machine-standing.ts';
import { auditSearch } from './features/audit/audit-search.ts';
import { customerSearch } from './features/customer-page/customer-search.ts';
import { machinesSearch } from './features/machines/machines-search.ts';
import { releaseSearch } from './features/rollouts/release-search.ts';
import { daysParam, effectOf, idParam } from './search-params.ts';

const names = { dialogs: ['dialog', 'edit'] };
const effect = (changes: object, now: object = {}) => effectOf({ ...now }, { ...changes }, names);

describe('a change of the address', () => {
  test.each([
    [{ status: 'active' }, {}],
    [{ sort: '-name' }, { page: 3 }],
    [{ search: undefined, status: undefined }, { search: 'x' }],
    [{ edit: undefined, status: 'active' }, { edit: 'a' }],
  ])('%j begins at the first page, and Back undoes it', (changes, now) =>
    expect(effect(changes, now)).toMatchObject({ staysOnPage: false, replace: false }),
  );

  test('what is typed begins at the first page and leaves no trail', () => {
    expect(effect({ search: 'kli' })).toMatchObject({ staysOnPage: false, replace: true });
    const typed = ['search', 'from'];
    expect(effectOf({}, { from: '0202-01-01' }, { ...names, typed }).replace).toBe(true);
    expect(effectOf({}, { from: undefined, to: undefined }, { ...names, typed }).replace).toBe(false);
  });

  test('a tab other than the list leaves its page', () =>
    expect(effectOf({}, { tab: 'analytics' }, { ...names, tabs: ['tab'] }).staysOnPage).toBe(true));

  test('another page is one that Back leads away from, shown from its top; in a record it stays in place', () => {
    expect(effect({ page: 2 })).toMatchObject({ staysOnPage: true, replace: false, resetScroll: true });
    expect(effectOf({}, { page: 2 }, { inRecord: true }).resetScroll).toBe(false);
  });

  test('Back closes a dialog, and opens none again that was closed or gave way to another', () => {
    const stays = { staysOnPage: true, resetScroll: false };
    expect(effect({ edit: 'a' })).toMatchObject({ ...stays, replace: false });
    expect(effect({ edit: undefined }, { edit: 'a' })).toMatchObject({
      ...stays,
      closes: true,
      replace: true,
    });
    expect(effect({ dialog: 'edit' }, { edit: 'a' })).toMatchObject({ staysOnPage: true, replace: true });
  });
});

test('days to go back are a whole number from 1 to 3650, or none', () => {
  for (const [seen, read] of [
    ['1', '1'],
    [45, '45'],
    ['3650', '3650'],
    ['030', '30'],
  ])
    expect(daysParam({ seen }, 'seen')).toBe(read);
  for (const seen of ['0', '3651', '1.5', '-1', '', 'week', undefined])
    expect(daysParam({ seen }, 'seen')).toBeUndefined();
});

test('an id is that of a record, or none', () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';
  expect(idParam({ edit: id }, 'edit')).toBe(id);
  for (const edit of ['1', 5, `${id}x`, '', ['x']]) expect(idParam({ edit }, 'edit')).toBeUndefined();
});

test.each([
  [auditSearch, audit.list, ['search', 'resourceId', 'resourceType', 'eventType']],
  [machinesSearch, machineStandings.list, ['search', 'version']],
] as const)('an address holds no text that the call of its list refuses: %#', (read, { query }, fields) => {
  const typed = ['a\u0002b', 'x'.repeat(201), `${'x'.repeat(199)}😀`, `a${'\u0301'.repeat(40)}`];
  for (const text of typed)
    for (const name of fields) {
      const { [name]: value }: Record<string, unknown> = read({ [name]: text });
      expect([name, text, query.safeParse({ [name]: value }).error]).toEqual([name, text, undefined]);
    }
  expect(read({ search: 'Klinik' }).search).toBe('Klinik');
});

test('the cursor of a page of the audit log is a whole one, or none', () => {
  const after = writeCursor({
    timestamp: new Date('2026-11-20T09:30:00Z'),
    audit_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  });
  expect(auditSearch({ page: 3, after, shown: 7 })).toMatchObject({ page: 3, after, shown: 7 });
  for (const broken of [after.slice(0, 40), after.slice(0, 41), `${after}=`, 'x', 'nope!'])
    expect(auditSearch({ page: 3, after: broken, shown: 7 })).toMatchObject({
      page: 3,
      after: undefined,
      shown: undefined,
    });
});

test.each([
  [machinesSearch, 201],
  [releaseSearch, 201],
  [customerSearch, 10_001],
])('the last page that can be asked for is the last one that an address names: %#', (search, last) => {
  expect(search({ page: last }).page).toBe(last);
  expect(search({ page: last + 1 }).page).toBeUndefined();
});
