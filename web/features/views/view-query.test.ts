import { expect, test } from 'vitest';
import { writeQuery, readQuery } from './view-query.ts';

const params = {
  names: ['search', 'type', 'sort'],
  read: ({ search, type, sort, page }: Record<string, unknown>) => ({
    search: search === '3.2.2036' ? '2036-02-03' : search,
    type: type === 'trial' ? type : undefined,
    sort,
    page,
  }),
};

test('a view is the filters and the order of a list, without its page and its dialogs', () => {
  expect(writeQuery({ type: 'trial', search: 'a&b', page: 3, edit: 'id', sort: undefined }, params)).toBe(
    'search=a%26b&type=trial',
  );
});

test('a stored query opens without the parts that are not valid any more, and names them', () => {
  expect(readQuery('type=trial&search=x', params)).toEqual({
    search: { type: 'trial', search: 'x' },
    lost: [],
  });
  expect(readQuery('type=gold&region=EU&sort=name&page=2', params)).toEqual({
    search: { sort: 'name' },
    lost: ['type', 'region', 'page'],
  });
});

test('what a stored query holds in another form, as one of before, opens as it is read', () => {
  expect(readQuery('search=3.2.2036', params)).toEqual({ search: { search: '2036-02-03' }, lost: [] });
});
