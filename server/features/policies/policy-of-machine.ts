import type { Context } from '../../context.ts';
import type { Policed } from '../updates/index.ts';
import { createCustomerFinder, type AskingMachine } from './customer-of-machine.ts';
import { createPolicySet } from './policy-set.ts';

/**
 * Finds the policy that decides about a machine at `now`. Without any policy in the database it costs no query, unless
 * the service gives machines of revoked licenses no updates.
 */
export function createPolicyFinder(context: Pick<Context, 'db' | 'pool' | 'signals' | 'config'>) {
  const policies = createPolicySet(context);
  const find = createCustomerFinder(context);
  const { updatesAfterRevocation } = context.config;
  return async (machine: AskingMachine, now: Date): Promise<Policed | undefined> => {
    const set = await policies();
    if (set.size === 0 && updatesAfterRevocation) return undefined;
    const owner = await find(machine);
    if (!owner) return undefined;
    const isLicensed = owner.isActive || updatesAfterRevocation;
    const policy = set.get(owner.customerId);
    if (!policy && isLicensed) return undefined;
    return { policy: { isLicensed, ...policy }, now, isProven: owner.isProven };
  };
}
export type PolicyFinder = ReturnType<typeof createPolicyFinder>;
