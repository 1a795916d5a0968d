import { noPolicy, weekdays, type UpdatePolicy } from '../../contract/policies.ts';
import type { Caller } from '../../server/caller.ts';
import { putCustomerPolicy, putTagPolicy } from '../../server/features/policies/policies.ts';
import { days } from './calendar.ts';
import { at, made, type Stage } from './stage.ts';

type Own = Partial<UpdatePolicy> & { tags?: string[] };

/** Of the first customers: one pinned, one deferred, one with windows at night, two with a tag. */
const policies: Own[] = [
  { pin: '4.1.' },
  { deferDays: 14 },
  { windows: [{ zone: 'Europe/Berlin', weekdays: [...weekdays], from: '22:00', to: '05:00' }] },
  { tags: ['clinics'] },
  { tags: ['clinics'] },
];

/** Gives some customers update policies, and one to all with the tag `clinics`. */
export async function makePolicies(stage: Stage, by: Caller): Promise<{ policies: number }> {
  const setAt = at(by, stage.now.getTime() - days(10));
  const customers = await stage.db
    .selectFrom('customers')
    .select('customer_id')
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .limit(policies.length)
    .execute();
  for (const [index, { customer_id }] of customers.entries()) {
    const { tags = [], ...fields } = policies[index] ?? {};
    const policy = { ...noPolicy, ...fields, tags };
    await made(stage, setAt, (change) => putCustomerPolicy(change, customer_id, policy, undefined));
  }
  await made(stage, setAt, (change) =>
    putTagPolicy(change, 'clinics', { ...noPolicy, deferDays: 7 }, undefined),
  );
  return { policies: customers.length + 1 };
}
