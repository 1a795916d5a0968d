import type { Caller } from '../../caller.ts';
import { plausibleTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import type { Facts } from '../../db/facts.ts';
import type { ReleaseSet } from '../releases/index.ts';
import type { Policed } from '../updates/index.ts';
import { createCustomerFinder, ofSeveral, toldBy } from './customer-of-machine.ts';
import { createPolicySet } from './policy-set.ts';

type Parts = Pick<Context, 'db' | 'pool' | 'signals' | 'config'> & {
  facts: Facts;
  releaseSet: ReleaseSet;
};

/**
 * Finds the policy that decides about a machine at `by.now`. A machine with a token belongs to the customer of its
 * license. Without any policy in the database it costs no query, unless the service gives machines of revoked licenses
 * no updates.
 */
export function createPolicyFinder(parts: Parts) {
  const policySet = createPolicySet(parts);
  const find = createCustomerFinder(parts);
  const { updatesAfterRevocation } = parts.config;
  return async (
    machineHash: string,
    { actor, now }: Pick<Caller, 'actor' | 'now'>,
  ): Promise<Policed | undefined> => {
    const { policies, newest } = await policySet();
    const isExplained = actor.kind === 'nobody';
    if (policies.size === 0 && updatesAfterRevocation && !isExplained) return undefined;
    const ownerOf = isExplained ? toldBy : ofSeveral;
    const owner =
      actor.kind === 'machine'
        ? { customerId: actor.customerId, isActive: actor.isLicensed, isDeleted: false, isProven: true }
        : ownerOf(await find(machineHash), policies);
    if (!owner) return undefined;
    // its token is refused by every feed, whatever the setting
    const isRefused = isExplained && owner.isProven && owner.isDeleted;
    const isLicensed = owner.isActive || (updatesAfterRevocation && !isRefused);
    const policy = policies.get(owner.customerId);
    if (!policy && isLicensed) return undefined;
    const deferredBy = plausibleTime(now, newest);
    const policed = { policy: { isLicensed, ...policy }, now, deferredBy, isProven: owner.isProven };
    return policy?.pin ? { ...policed, trashed: (await parts.releaseSet()).trashed } : policed;
  };
}

export type PolicyFinder = ReturnType<typeof createPolicyFinder>;
