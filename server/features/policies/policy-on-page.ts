import type { CustomerPolicy, UpdatePolicy } from '../../../contract/policies.ts';
import type { Caller } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { namedTo, policySentences, type AppliedPolicy } from '../updates/index.ts';
import { getCustomerPolicy } from './policies.ts';
import { policyOfCustomer } from './policy-set.ts';

/** The own policy of a customer with its tags, and what the two decide together. */
export async function policyOnPage(
  db: Db,
  customerId: string,
): Promise<{ own: CustomerPolicy; applied: Omit<AppliedPolicy, 'isLicensed'> | undefined } | Failure> {
  const own = await getCustomerPolicy(db, customerId);
  if (isFailure(own)) return own;
  const stored = await db
    .selectFrom('update_policies')
    .select(['tag', 'policy'])
    .where('tag', 'in', (eb) =>
      eb.selectFrom('customer_tags').select('tag').where('customer_id', '=', customerId),
    )
    .execute();
  const tags = new Map(stored.map(({ tag, policy }) => [tag ?? '', policy as UpdatePolicy]));
  const customers = new Map([[customerId, { name: own.name, tags: own.tags, own }]]);
  return { own, applied: policyOfCustomer({ customers, tags }, customerId) };
}

/**
 * What decides about the updates of the machines of a customer, one sentence for each field of the policy, as the caller
 * may know it.
 */
export async function policyInSentences(
  { db }: { db: Db },
  by: Caller,
  customerId: string,
): Promise<string[]> {
  const found = await policyOnPage(db, customerId);
  return isFailure(found) || !found.applied ? [] : policySentences(namedTo(by, found.applied));
}
