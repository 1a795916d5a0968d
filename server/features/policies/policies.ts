import { v7 as uuidv7 } from 'uuid';
import { customerRefusal } from '../../../contract/customers.ts';
import {
  noPolicy,
  type CustomerPolicy,
  type policies as calls,
  type TagPolicy,
  type UpdatePolicy,
} from '../../../contract/policies.ts';
import type { RouteInput } from '../../../contract/route.ts';
import { mayRead, type Caller } from '../../caller.ts';
import { changedFields, type Change } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { countOf } from '../../db/sql.ts';
import { editRecord, type Editable } from '../../edit-record.ts';
import { isFailure, noSuch, wrongState, type Failure } from '../../failure.ts';
import { fieldsOfPolicy } from './policy-set.ts';

type Columns = { policy: UpdatePolicy; tags?: readonly string[] };
type CustomerInput = Omit<RouteInput<typeof calls.putOfCustomer>['body'], 'updatedAt'>;

const notFound = noSuch('customer');

/** The policy and the tags of a customer. */
export async function getCustomerPolicy(db: Db, customerId: string): Promise<CustomerPolicy | Failure> {
  const customer = await db
    .selectFrom('customers as c')
    .leftJoin('update_policies as p', 'p.customer_id', 'c.customer_id')
    .select(['c.name', 'c.created_at', 'c.deleted_at', 'p.policy', 'p.updated_at'])
    .where('c.customer_id', '=', customerId)
    .executeTakeFirst();
  if (!customer) return notFound;
  const tags = await db
    .selectFrom('customer_tags')
    .select('tag')
    .where('customer_id', '=', customerId)
    .orderBy('tag')
    .execute();
  return {
    customerId,
    name: customer.name,
    tags: tags.map(({ tag }) => tag).toSorted(),
    ...((customer.policy as UpdatePolicy | null) ?? noPolicy),
    updatedAt: (customer.updated_at ?? customer.created_at).toISOString(),
  };
}

/** The same with its name only for users who may read customers. */
export const customerPolicyFor = async (db: Db, by: Caller, customerId: string) =>
  withNameFor(by, await getCustomerPolicy(db, customerId));

const withNameFor = (by: Caller, policy: CustomerPolicy | Failure): CustomerPolicy | Failure =>
  isFailure(policy) || mayRead(by, 'customers') ? policy : { ...policy, name: '' };

type Stored = { policy: object; updated_at: Date };

/** A tag with the policy that is stored for it, or one that decides nothing. */
export const toTagPolicy = (tag: string, customers: number, stored: Stored | undefined): TagPolicy => ({
  tag,
  customers,
  ...((stored?.policy as UpdatePolicy | undefined) ?? noPolicy),
  updatedAt: (stored?.updated_at ?? new Date(0)).toISOString(),
});

/** Sets policy and tags of a customer. WRONG_STATE while it is soft-deleted. */
export const putCustomerPolicy = async (
  change: Change,
  customerId: string,
  { tags, ...fields }: CustomerInput,
  seen: string | undefined,
): Promise<CustomerPolicy | Failure> => {
  const policy = fieldsOfPolicy(fields);
  const sent = { tags: [...new Set(tags)].toSorted(), ...policy };
  const edited = await editRecord(change, ofCustomer, customerId, {
    event: 'customer.policy_changed',
    sent,
    seen,
    columns: { policy, tags: sent.tags },
    what: (before, after) => `update policy ${changedFields(before, after)}`,
  });
  return withNameFor(change.by, edited);
};

/** Sets the policy of all customers with a tag. */
export const putTagPolicy = (
  change: Change,
  tag: string,
  fields: UpdatePolicy,
  seen: string | undefined,
): Promise<TagPolicy | Failure> => {
  const policy = fieldsOfPolicy(fields);
  return editRecord(change, ofTag, tag, {
    event: 'tag.policy_changed',
    sent: policy,
    seen,
    columns: { policy },
    what: (before, after) => `update policy ${changedFields(before, after)}`,
  });
};

const ofCustomer: Editable<CustomerPolicy, Columns> = {
  name: 'update policy',
  async lock({ tx }, customerId) {
    const customer = await tx
      .selectFrom('customers')
      .select('deleted_at')
      .where('customer_id', '=', customerId)
      .forUpdate()
      .executeTakeFirst();
    const deletedAt = customer?.deleted_at?.toISOString() ?? null;
    return wrongState(customerRefusal.update({ deletedAt })) ?? getCustomerPolicy(tx, customerId);
  },
  async write(change, { customerId }, { policy, tags = [], updated_at }) {
    const { tx } = change;
    await tx.deleteFrom('customer_tags').where('customer_id', '=', customerId).execute();
    if (tags.length > 0)
      await tx
        .insertInto('customer_tags')
        .values(tags.map((tag) => ({ customer_id: customerId, tag })))
        .execute();
    await tx
      .insertInto('update_policies')
      .values({ policy_id: uuidv7(), customer_id: customerId, policy: JSON.stringify(policy), updated_at })
      .onConflict((on) =>
        on.column('customer_id').doUpdateSet({ policy: JSON.stringify(policy), updated_at }),
      )
      .execute();
    await change.announce('policies');
    return getCustomerPolicy(tx, customerId);
  },
};

const ofTag: Editable<TagPolicy, Columns> = {
  name: 'update policy',
  async lock({ tx }, tag) {
    // A row to lock: two edits of a tag without a policy would not see each other.
    await tx
      .insertInto('update_policies')
      .values({ policy_id: uuidv7(), tag, policy: JSON.stringify(noPolicy), updated_at: new Date(0) })
      .onConflict((on) => on.column('tag').doNothing())
      .execute();
    return readTag(tx, tag);
  },
  async write(change, { tag }, { policy, updated_at }) {
    const { tx } = change;
    await tx
      .updateTable('update_policies')
      .set({ policy: JSON.stringify(policy), updated_at })
      .where('tag', '=', tag)
      .execute();
    await change.announce('policies');
    return readTag(tx, tag);
  },
};

async function readTag(tx: Tx, tag: string): Promise<TagPolicy> {
  const stored = await tx
    .selectFrom('update_policies')
    .select(['policy', 'updated_at'])
    .where('tag', '=', tag)
    .forUpdate()
    .executeTakeFirst();
  const customers = await countOf(
    tx
      .selectFrom('customer_tags as t')
      .innerJoin('customers as c', 'c.customer_id', 't.customer_id')
      .where('t.tag', '=', tag)
      .where('c.deleted_at', 'is', null),
  );
  return toTagPolicy(tag, customers, stored);
}
