import { expect, test } from 'vitest';
import { customerListSearch } from './customers-search.ts';

const given = (params: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(customerListSearch(params)).filter(([, value]) => value !== undefined));

test.each([
  [
    { search: 'osaka', page: '3', sort: '-name' },
    { search: 'osaka', page: 3, sort: '-name' },
  ],
  [{ search: '', page: '1' }, {}],
  [{ page: '-2', dialog: 'drop tables' }, {}],
  [{ page: '1.5', extra: 'x' }, {}],
  [{ dialog: 'create' }, { dialog: 'create' }],
  [{ policy: '..', tag: 'clinics' }, { tag: 'clinics' }],
  [{ edit: '.', tag: '..' }, {}],
  [{ search: 'x'.repeat(300) }, { search: 'x'.repeat(200) }],
])('%j', (params, expected) => expect(given(params)).toEqual(expected));
