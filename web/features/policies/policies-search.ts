import { getRouteApi } from '@tanstack/react-router';
import { pageParam, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the tag policies: filter, page, and the tag whose policy is open. */
export type PoliciesSearch = {
  search?: string | undefined;
  page?: number | undefined;
  tag?: string | undefined;
};

export const policiesSearch = (params: Record<string, unknown>): PoliciesSearch => ({
  search: textParam(params, 'search'),
  page: pageParam(params),
  tag: textParam(params, 'tag'),
});

const route = getRouteApi('/signed-in/releases/policies');
export const usePoliciesSearch = () => useSearch<PoliciesSearch>(route, { dialogs: ['tag'] });
