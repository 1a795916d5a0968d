import { sql } from 'kysely';
import { licenseRefusal } from '../../../contract/license-state.ts';
import type { License, TransferImpact } from '../../../contract/licenses.ts';
import { mayRead, type Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import { editRecord } from '../../edit-record.ts';
import { breaksRule, isFailure, wrongState, type Failure } from '../../failure.ts';
import { impactOfTransfer, policyInSentences, type ImpactParts } from '../policies/index.ts';
import { editable, getLicense, refuseCustomer } from './licenses.ts';

const sameCustomer = breaksRule('customerId', 'The license belongs to this customer already');

/**
 * Gives a license to another customer; its machines keep their seats. `seen` is the version that the user loaded.
 * RULE_VIOLATED if the customer is the same, soft-deleted or unknown.
 */
export async function transferLicense(
  change: Change,
  id: string,
  customerId: string,
  seen: string | undefined,
): Promise<License | Failure> {
  const wrongCustomer = await lockCustomers(change, id, customerId);
  return editRecord(change, editable, id, {
    event: 'license.transferred',
    refuse: licenseRefusal.transfer,
    sent: { customerId },
    seen,
    check: (before) => wrongCustomer ?? (before.customerId === customerId ? sameCustomer : undefined),
    columns: { customer_id: customerId },
    what: (before, after) => `transferred from ${before.customer?.name} to ${after.customer?.name}`,
  });
}

/**
 * Share-locks both customers, in the order of their ids and before the license, so that neither is deleted meanwhile. Why
 * the license cannot be given to the second. The first may change before the license is locked; then it is not locked,
 * which is harmless: nobody deletes a customer without locking its licenses.
 */
async function lockCustomers({ tx }: Change, licenseId: string, customerId: string) {
  await tx
    .selectFrom('customers')
    .select('customer_id')
    .where(
      sql<boolean>`customer_id = ${customerId}
        or customer_id = (select customer_id from licenses where license_id = ${licenseId})`,
    )
    .orderBy('customer_id')
    .forShare()
    .execute();
  return refuseCustomer(tx, customerId);
}

/** What a transfer would change: the machines that keep their seats, and what they would be offered. */
export async function transferImpact(
  parts: ImpactParts,
  by: Caller,
  id: string,
  customerId: string,
): Promise<TransferImpact | Failure> {
  const license = await getLicense(parts.db, id);
  if (isFailure(license)) return license;
  const refusal = wrongState(licenseRefusal.transfer(license));
  if (refusal) return refusal;
  if (license.customerId === customerId) return sameCustomer;
  const to = await parts.db
    .selectFrom('customers')
    .select(['name', 'deleted_at'])
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  if (!to) return breaksRule('customerId', 'There is no such customer');
  if (to.deleted_at) return breaksRule('customerId', 'Customer is soft-deleted');
  const sentences = (one: string) => policyInSentences(parts, by, one);
  return {
    license,
    to: { customerId, name: mayRead(by, 'customers') ? to.name : null },
    machines: license.currentActivations,
    policy:
      mayRead(by, 'customers') || mayRead(by, 'rollouts')
        ? { from: await sentences(license.customerId), to: await sentences(customerId) }
        : null,
    updates: await impactOfTransfer(parts, license, customerId, by.now),
  };
}
