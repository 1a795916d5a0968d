import { policies as calls, type CustomerPolicy } from '../../../contract/policies.ts';
import { mayRead, type Caller } from '../../caller.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { inChange, implement } from '../../http/call.ts';
import { impactOnCustomer, impactOnTag, type ImpactParts } from './impact.ts';
import { getCustomerPolicy, putCustomerPolicy, putTagPolicy } from './policies.ts';
import { listTags } from './tag-list.ts';

const namedTo = (by: Caller, policy: CustomerPolicy | Failure) =>
  isFailure(policy) || mayRead(by, 'customers') ? policy : { ...policy, name: '' };

export const policyRoutes = (parts: ImpactParts) =>
  implement(calls, {
    getOfCustomer: async ({ by, params }) => namedTo(by, await getCustomerPolicy(parts.db, params.id)),
    putOfCustomer: inChange(async (change, { by, params, body, seen }) =>
      namedTo(by, await putCustomerPolicy(change, params.id, body, seen)),
    ),
    impactOnCustomer: ({ by, params, body }) => impactOnCustomer(parts, params.id, body, by.now),
    listTags: ({ query }) => listTags(parts.db, query),
    putOfTag: inChange((change, { params, body, seen }) => putTagPolicy(change, params.tag, body, seen)),
    impactOnTag: ({ by, body }) => impactOnTag(parts, body.tag, body, by.now),
  });
