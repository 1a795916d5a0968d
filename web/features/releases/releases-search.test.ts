import { expect, test } from 'vitest';
import { releasesSearch } from './releases-search.ts';

const given = (params: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(releasesSearch(params)).filter(([, value]) => value !== undefined));

test.each([
  [
    { search: '2.4', platform: 'darwin', inactive: '1', page: '2' },
    { search: '2.4', platform: 'darwin', inactive: '1', page: 2 },
  ],
  [{ tab: 'analytics' }, { tab: 'analytics' }],
  [{ tab: 'other', inactive: 'yes', page: '0', dialog: 'x', edit: '../..' }, {}],
  [{ platform: 'amiga', channel: 'nightly', architecture: 'ppc', attention: 'none' }, {}],
  [{ dialog: 'create' }, { dialog: 'create' }],
  [
    { dialog: 'create', upload: '1-2-3-4' },
    { dialog: 'create', upload: '1-2-3-4' },
  ],
  [{ upload: '<b>' }, {}],
])('%j', (params, expected) => expect(given(params)).toEqual(expected));
