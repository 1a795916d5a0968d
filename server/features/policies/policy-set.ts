import { policyFields, type UpdatePolicy } from '../../../contract/policies.ts';
import type { Context } from '../../context.ts';
import { newestTime } from '../../checked-time.ts';
import { createCache } from '../../db/cache.ts';
import type { Db } from '../../db/client.ts';
import { effectivePolicy, type AppliedPolicy, type PolicySource } from '../updates/index.ts';

/** Everything that policies are computed from. */
export type PolicyData = {
  /** By customer id, of customers with tags or a policy of their own. */
  customers: ReadonlyMap<string, { name: string; tags: readonly string[]; own: UpdatePolicy | undefined }>;
  tags: ReadonlyMap<string, UpdatePolicy>;
};

/** The policy of a customer, each field with the place that sets it. */
export type EffectivePolicy = Omit<AppliedPolicy, 'isLicensed'>;
/** By the id of the customer. */
export type EffectivePolicies = ReadonlyMap<string, EffectivePolicy>;

/** The fields of a policy among others; without a pin there is nothing to hold for security updates. */
export function fieldsOfPolicy(fields: UpdatePolicy): UpdatePolicy {
  const picked = Object.fromEntries(
    Object.keys(policyFields).map((name) => [name, fields[name as keyof UpdatePolicy]]),
  ) as UpdatePolicy;
  return { ...picked, pinForSecurity: picked.pin !== null && picked.pinForSecurity };
}

/**
 * The policy of a customer: its own, then those of its tags in alphabetical order, field by field. Undefined where they
 * decide nothing.
 */
export function policyOfCustomer(
  { customers, tags }: PolicyData,
  customerId: string,
): EffectivePolicy | undefined {
  const customer = customers.get(customerId);
  if (!customer) return undefined;
  const level = (from: PolicySource, policy: UpdatePolicy | undefined) => (policy ? [{ from, policy }] : []);
  const effective = effectivePolicy([
    ...level({ kind: 'customer', name: customer.name }, customer.own),
    ...customer.tags.toSorted().flatMap((tag) => level({ kind: 'tag', name: tag }, tags.get(tag))),
  ]);
  return Object.keys(effective).length > 0 ? effective : undefined;
}

/** Reads all policies and tags. */
export async function readPolicies(db: Db): Promise<PolicyData> {
  const [policies, tagged] = await Promise.all([
    db
      .selectFrom('update_policies as p')
      .leftJoin('customers as c', 'c.customer_id', 'p.customer_id')
      .select(['p.customer_id', 'p.tag', 'p.policy', 'c.name'])
      .execute(),
    db
      .selectFrom('customer_tags as t')
      .innerJoin('customers as c', 'c.customer_id', 't.customer_id')
      .select(['t.customer_id', 't.tag', 'c.name'])
      .execute(),
  ]);
  const customers = new Map<string, { name: string; tags: string[]; own: UpdatePolicy | undefined }>();
  const tags = new Map<string, UpdatePolicy>();
  for (const row of policies) {
    const policy = row.policy as UpdatePolicy;
    if (row.tag !== null) tags.set(row.tag, policy);
    if (row.customer_id !== null)
      customers.set(row.customer_id, { name: row.name ?? '', tags: [], own: policy });
  }
  for (const { customer_id, tag, name } of tagged) {
    const customer = customers.get(customer_id) ?? { name, tags: [], own: undefined };
    customer.tags.push(tag);
    customers.set(customer_id, customer);
  }
  return { customers, tags };
}

/** The policies that decide something, by customer id. */
export const effectivePolicies = async (db: Db): Promise<EffectivePolicies> =>
  effectiveOf(await readPolicies(db));

/** The same, of what was read. */
export const effectiveOf = (data: PolicyData): EffectivePolicies =>
  new Map(
    [...data.customers.keys()].flatMap((customerId): [string, EffectivePolicy][] => {
      const policy = policyOfCustomer(data, customerId);
      return policy ? [[customerId, policy]] : [];
    }),
  );

type PolicySet = { policies: EffectivePolicies; newest: Date | undefined };

/** The same, and the latest time in the database, cached for a minute, or until a policy changes in any process. */
export function createPolicySet({ db, signals }: Pick<Context, 'db' | 'signals'>) {
  const cached = createCache<PolicySet>(signals, 'policies', { max: 1, ttlMs: 60_000 });
  return () =>
    cached('all', async () => ({ policies: await effectivePolicies(db), newest: await newestTime(db) }));
}
