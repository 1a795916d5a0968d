import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { policies } from '../../../contract/policies.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call } from '../../api.ts';

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

export const tagsQuery = queryOptions({
  queryKey: ['policies', 'tags'],
  queryFn: ({ signal }) => call(policies.listTags, {}, { signal }),
  gcTime: 0,
  refetchOnWindowFocus: false,
});

/** How many machines would be offered something else under this policy. */
export const customerImpactQuery = (id: string, body: CustomerBody) =>
  queryOptions({
    queryKey: ['policies', 'impact', id, body],
    queryFn: ({ signal }) => call(policies.impactOnCustomer, { params: { id }, body }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });

export const tagImpactQuery = (tag: string, body: TagBody) =>
  queryOptions({
    queryKey: ['policies', 'impact', tag, body],
    queryFn: ({ signal }) => call(policies.impactOnTag, { body: { tag, ...body } }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });

export const saveCustomerPolicy = (id: string, body: CustomerBody & Seen) =>
  call(policies.putOfCustomer, { params: { id }, body });
export const saveTagPolicy = (tag: string, body: TagBody & Seen) =>
  call(policies.putOfTag, { params: { tag }, body });
