import { sql } from 'kysely';
import {
  type ListedTagPolicy,
  type policies as calls,
  type UpdatePolicy,
} from '../../../contract/policies.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Db } from '../../db/client.ts';
import { recordHash } from '../../db/sql.ts';
import { fieldsOfPolicy } from './policy-set.ts';
import { toTagPolicy } from './policies.ts';

type Query = RouteInput<typeof calls.listTags>['query'];
type Counted = { tag: string; customers: number };

/** Tags that a customer has or that decide something, in alphabetical order. */
export async function listTags(
  db: Db,
  { search = '', limit, offset = 0 }: Query,
): Promise<RouteAnswer<typeof calls.listTags>> {
  const { rows: counted } = await sql<Counted>`
    select tag, count(*) filter (where c.deleted_at is null) as customers
      from customer_tags join customers c using (customer_id) group by tag`.execute(db);
  const stored = await db
    .selectFrom('update_policies')
    .select(['tag', 'policy', 'updated_at'])
    .where('tag', 'is not', null)
    .execute();
  const customers = new Map(counted.map((row) => [row.tag, row.customers]));
  const policies = new Map(stored.map((row) => [row.tag ?? '', row]));
  const wanted = search.trim().toLowerCase();
  const all = [...new Set([...customers.keys(), ...policies.keys()])]
    .filter((tag) => tag.includes(wanted))
    .toSorted()
    .map((tag) => toTagPolicy(tag, customers.get(tag) ?? 0, policies.get(tag)))
    .filter((one) => one.customers > 0 || decides(one));
  const page = all.slice(offset, limit === undefined ? undefined : offset + limit);
  return {
    data: await withMachines(db, page),
    meta: { total: all.length, limit: limit ?? null, offset },
  };
}

/** Whether any field is set. */
const decides = (policy: UpdatePolicy): boolean =>
  Object.entries(fieldsOfPolicy(policy)).some(
    ([field, value]) => field !== 'pinForSecurity' && value !== null,
  );

async function withMachines<Tag extends { tag: string }>(
  db: Db,
  tags: Tag[],
): Promise<(Tag & Pick<ListedTagPolicy, 'machines'>)[]> {
  if (tags.length === 0) return [];
  const { rows } = await sql<{ tag: string; machines: number }>`
    select t.tag, count(distinct ${recordHash('k', 'a')}) as machines
      from customer_tags t
      join customers c using (customer_id)
      join licenses l using (customer_id)
      join activations a using (license_id)
      left join machine_credentials k using (activation_id)
     where t.tag = any(${tags.map(({ tag }) => tag)}::text[]) and c.deleted_at is null and a.status = 'active'
     group by t.tag`.execute(db);
  const machines = new Map(rows.map((row) => [row.tag, row.machines]));
  return tags.map((one) => ({ ...one, machines: machines.get(one.tag) ?? 0 }));
}
