import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { policies } from '../../../contract/policies.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call } from '../../api.ts';
import { live } from '../../live.ts';
import type { PoliciesSearch } from './policies-search.ts';
import { alwaysFresh } from '../../query-client.ts';
import { pageOf, queryOf } from '../../query-of.ts';

export type CustomerBody = RouteRequest<typeof policies.impactOnCustomer>['body'];
export type TagBody = Omit<RouteRequest<typeof policies.impactOnTag>['body'], 'tag'>;
type Seen = { updatedAt?: string };

/** Always refetched: its `updatedAt` decides whether an edit may be saved. */
export const customerPolicyQuery = (id: string) =>
  queryOf(policies.getOfCustomer, { params: { id } }, alwaysFresh);

/** The policy of one tag; null if no customer has the tag and it decides nothing. Always refetched, as above. */
export const tagPolicyQuery = (tag: string) =>
  queryOptions({
    queryKey: ['policies', 'tag', tag],
    queryFn: async ({ signal }) => {
      const { data } = await call(policies.listTags, { query: { search: tag } }, { signal });
      return data.find((one) => one.tag === tag) ?? null;
    },
    ...alwaysFresh,
  });

/** Tags per page of the list. */
export const tagPageSize = 50;

export const tagListQuery = ({ search, page }: PoliciesSearch) =>
  queryOf(
    policies.listTags,
    { query: { search, ...pageOf(page, tagPageSize) } },
    { ...live, placeholderData: keepPreviousData },
  );

/** How many machines would be offered something else under this policy. */
export const customerPolicyImpactQuery = (id: string, body: CustomerBody) =>
  queryOf(policies.impactOnCustomer, { params: { id }, body }, { retry: false });

export const tagPolicyImpactQuery = (tag: string, body: TagBody) =>
  queryOf(policies.impactOnTag, { body: { tag, ...body } }, { retry: false });

export const saveCustomerPolicy = (id: string, body: CustomerBody & Seen) =>
  call(policies.putOfCustomer, { params: { id }, body });
export const saveTagPolicy = (tag: string, body: TagBody & Seen) =>
  call(policies.putOfTag, { params: { tag }, body });
