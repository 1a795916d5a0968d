import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { policies } from '../../../contract/policies.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call, callList } from '../../api.ts';
import { live } from '../../live.ts';
import type { PoliciesSearch } from './policies-search.ts';

export type CustomerBody = RouteRequest<typeof policies.impactOnCustomer>['body'];
export type TagBody = Omit<RouteRequest<typeof policies.impactOnTag>['body'], 'tag'>;
type Seen = { updatedAt?: string };

/** Always refetched: its `updatedAt` decides whether an edit may be saved. */
export const customerPolicyQuery = (id: string) =>
  queryOptions({
    queryKey: ['policies', 'customer', id],
    queryFn: ({ signal }) => call(policies.getOfCustomer, { params: { id } }, { signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** The policy of one tag; null if no customer has the tag and it decides nothing. Always refetched, as above. */
export const tagPolicyQuery = (tag: string) =>
  queryOptions({
    queryKey: ['policies', 'tag', tag],
    queryFn: async ({ signal }) => {
      const { data } = await callList(policies.listTags, { query: { search: tag } }, { signal });
      return data.find((one) => one.tag === tag) ?? null;
    },
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** Tags per page of the list. */
export const tagPageSize = 50;

export const tagListQuery = ({ search, page = 1 }: PoliciesSearch) => {
  const query = { search, limit: String(tagPageSize), offset: String((page - 1) * tagPageSize) };
  return queryOptions({
    ...live,
    queryKey: ['policies', 'tags', query],
    queryFn: ({ signal }) => callList(policies.listTags, { query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

/** How many machines would be offered something else under this policy. */
export const customerImpactQuery = (id: string, body: CustomerBody) =>
  queryOptions({
    queryKey: ['policies', 'impact', id, body],
    queryFn: ({ signal }) => call(policies.impactOnCustomer, { params: { id }, body }, { signal }),
    retry: false,
  });

export const tagImpactQuery = (tag: string, body: TagBody) =>
  queryOptions({
    queryKey: ['policies', 'impact', tag, body],
    queryFn: ({ signal }) => call(policies.impactOnTag, { body: { tag, ...body } }, { signal }),
    retry: false,
  });

export const saveCustomerPolicy = (id: string, body: CustomerBody & Seen) =>
  call(policies.putOfCustomer, { params: { id }, body });
export const saveTagPolicy = (tag: string, body: TagBody & Seen) =>
  call(policies.putOfTag, { params: { tag }, body });
