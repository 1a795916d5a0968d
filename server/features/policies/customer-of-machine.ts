import { sql } from 'kysely';
import type { Pool } from 'pg';
import { batchLoader } from '../../db/batch-loader.ts';
import type { Db } from '../../db/client.ts';
import type { Facts } from '../../db/facts.ts';
import { runPrepared } from '../../db/prepared.ts';
import { activationsOfRecord } from '../../db/sql.ts';

/**
 * The customer of a machine and the license that says so, whether both are active, whether the customer is deleted, and
 * whether the machine enrolled there.
 */
export type CustomerOfMachine = {
  customerId: string;
  licenseId: string;
  isActive: boolean;
  isDeleted: boolean;
  isProven: boolean;
};

type Row = CustomerOfMachine & { place: number; activationId: string; isHeld: boolean };

/** The owners of a machine, the one that counts first, and the records that say so. */
type Owners = { owners: CustomerOfMachine[]; records: string[]; activations: number };

/**
 * Whoever has an API key may name any machine, and two customers may have one of the same name: a customer with a policy
 * counts before one without, so that no other lifts it. One whose license is inactive counts only where all are.
 */
export function ofSeveral(
  owners: readonly CustomerOfMachine[],
  policies: { has(customerId: string): boolean },
): CustomerOfMachine | undefined {
  const active = owners.filter(({ isActive }) => isActive);
  const counted = active.length > 0 ? active : owners;
  return counted.find(({ customerId }) => policies.has(customerId)) ?? counted[0];
}

/** The customer whose policy decides for a machine when nobody asks: its updates come by its token if it has one. */
export const toldBy: typeof ofSeveral = (owners, policies) =>
  owners.find(({ isProven }) => isProven) ?? ofSeveral(owners, policies);

/**
 * The customers of machines, by the SHA-256 of their ids in hex. Of several, a seat that is held counts before one that is
 * not, an active license before others, a proven machine before a named one, and then the latest validation.
 */
export async function ownersOf(
  { db, pool }: { db: Db; pool: Pool },
  machineHashes: readonly string[],
): Promise<Owners[]> {
  const hashes = machineHashes.map((hash) => Buffer.from(hash, 'hex'));
  const query = sql<Row>`
    select asked.place::int, held.*
      from unnest(${hashes}::bytea[]) with ordinality as asked (hash, place)
      cross join lateral (
        select l.customer_id as "customerId", l.license_id as "licenseId", a.activation_id as "activationId",
               a.status = 'active' as "isHeld",
               l.status = 'active' and c.status = 'active' and c.deleted_at is null as "isActive",
               c.deleted_at is not null as "isDeleted", m.activation_id is not null as "isProven",
               row_number() over (
                 order by a.status = 'active' desc,
                          l.status = 'active' and c.status = 'active' and c.deleted_at is null desc,
                          m.activation_id is not null desc, a.last_checked_at desc nulls last, a.activation_id desc
               ) as rank
          from ${activationsOfRecord(sql`asked.hash`)} a
          join licenses l using (license_id)
          join customers c using (customer_id)
          left join machine_credentials m using (activation_id)) as held
     order by asked.place, held.rank`.compile(db);
  const seats = await runPrepared(pool, query);
  return hashes.map((_, index) => {
    const all = seats.filter(({ place }) => place === index + 1);
    const held = all.filter((one) => one.isHeld && (one.isActive || (one.isProven && !one.isDeleted)));
    return {
      owners: held.length > 0 ? held : all.slice(0, 1),
      records: all.flatMap(({ customerId, licenseId, activationId }) => [
        customerId,
        licenseId,
        activationId,
      ]),
      activations: all.length,
    };
  });
}

/**
 * Finds the customers where a machine holds a seat on an active license or enrolled, or else the last one; from memory if it
 * has one activation at most: among several, the latest validation may decide. Machines that ask at the same time share a
 * query.
 */
export function createCustomerFinder(parts: { db: Db; pool: Pool; facts: Facts }) {
  const owners = parts.facts.kind<Owners>({
    recordsOf: (machineHash, { records }) => [machineHash, ...records],
    bytesOf: () => 700,
  });
  const load = batchLoader(async (hashes: string[]) => {
    const keep = owners.reading();
    const found = await ownersOf(parts, hashes);
    found.forEach((owner, i) => {
      if (owner.activations <= 1) keep(hashes[i] ?? '', owner);
    });
    return found;
  });
  return async (machineHash: string): Promise<CustomerOfMachine[]> =>
    (owners.get(machineHash) ?? (await load(machineHash))).owners;
}
