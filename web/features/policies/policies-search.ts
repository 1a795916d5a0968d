import { getRouteApi } from '@tanstack/react-router';
import { pageParam, recordParam, searchOf, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the tag policies: filter, page, and the tag whose policy is open. */
export const policiesSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  page: pageParam(params),
  tag: recordParam(params, 'tag'),
}));
export type PoliciesSearch = ReturnType<typeof policiesSearch>;

const route = getRouteApi('/signed-in/releases/policies');
export const usePoliciesSearch = () => useSearch<PoliciesSearch>(route, { dialogs: ['tag'] });
