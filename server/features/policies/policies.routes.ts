import { policies as calls } from '../../../contract/policies.ts';
import { inChange, implement } from '../../http/call.ts';
import { impactOnCustomer, impactOnTag, type ImpactParts } from './impact.ts';
import { customerPolicyFor, putCustomerPolicy, putTagPolicy } from './policies.ts';
import { listTags } from './tag-list.ts';

export const policyRoutes = (parts: ImpactParts) =>
  implement(calls, {
    getOfCustomer: ({ by, params }) => customerPolicyFor(parts.db, by, params.id),
    putOfCustomer: inChange((change, { params, body, seen }) =>
      putCustomerPolicy(change, params.id, body, seen),
    ),
    impactOnCustomer: ({ by, params, body }) => impactOnCustomer(parts, params.id, body, by.now),
    listTags: ({ query }) => listTags(parts.db, query),
    putOfTag: inChange((change, { params, body, seen }) => putTagPolicy(change, params.tag, body, seen)),
    impactOnTag: ({ by, body }) => impactOnTag(parts, body.tag, body, by.now),
  });
