import { sql } from 'kysely';
import type { Pool } from 'pg';
import { batchLoader } from '../../db/batch-loader.ts';
import type { Db } from '../../db/client.ts';
import type { Facts } from '../../db/facts.ts';
import { runPrepared } from '../../db/prepared.ts';
import { activationsOfRecord } from '../../db/sql.ts';

/**
 * The customer of a machine and the license that says so, whether both are active, and whether the machine enrolled
 * there.
 */
export type CustomerOfMachine = {
  customerId: string;
  licenseId: string;
  isActive: boolean;
  isProven: boolean;
};

type Row = {
  customer_id: string | null;
  license_id: string;
  activation_id: string | null;
  is_active: boolean | null;
  is_proven: boolean | null;
  activations: number | null;
};

/** The owner of a machine, if it has an activation, and the records that say so. */
type Owner = { of: CustomerOfMachine | undefined; records: string[]; activations: number };

/**
 * The customers of machines, by the SHA-256 of their ids in hex, in their order. Of several, a seat that is held counts
 * before one that is not, an active license before others, a proven machine before a named one, and then the latest
 * validation.
 */
export const customersOfMachines = async (
  parts: { db: Db; pool: Pool },
  hashes: readonly string[],
): Promise<(CustomerOfMachine | undefined)[]> => (await ownersOf(parts, hashes)).map((owner) => owner.of);

async function ownersOf(
  { db, pool }: { db: Db; pool: Pool },
  machineHashes: readonly string[],
): Promise<Owner[]> {
  const hashes = machineHashes.map((hash) => Buffer.from(hash, 'hex'));
  const query = sql<Row>`
    select held.customer_id, held.license_id, held.activation_id, held.is_active, held.is_proven, held.activations::int
      from unnest(${hashes}::bytea[]) with ordinality as asked (hash, place)
      left join lateral (
        select l.customer_id, l.license_id, a.activation_id,
               l.status = 'active' and c.status = 'active' and c.deleted_at is null as is_active,
               m.activation_id is not null as is_proven, count(*) over () as activations
          from ${activationsOfRecord(sql`asked.hash`)} a
          join licenses l using (license_id)
          join customers c using (customer_id)
          left join machine_credentials m using (activation_id)
         order by a.status = 'active' desc,
                  l.status = 'active' and c.status = 'active' and c.deleted_at is null desc,
                  m.activation_id is not null desc, a.last_checked_at desc nulls last, a.activation_id desc
         limit 1) as held on true
     order by asked.place`.compile(db);
  const rows = await runPrepared(pool, query);
  return rows.map(({ customer_id, license_id, activation_id, is_active, is_proven, activations }) => ({
    of:
      customer_id === null
        ? undefined
        : {
            customerId: customer_id,
            licenseId: license_id,
            isActive: is_active === true,
            isProven: is_proven === true,
          },
    records: customer_id === null ? [] : [customer_id, license_id, activation_id ?? ''],
    activations: activations ?? 0,
  }));
}

/**
 * Finds the customer of one machine, from memory if it has one activation at most: among several, the latest validation
 * may decide. Machines that ask at the same time share a query.
 */
export function createCustomerFinder(parts: { db: Db; pool: Pool; facts: Facts }) {
  const owners = parts.facts.kind<Owner>({
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
  return async (machineHash: string): Promise<CustomerOfMachine | undefined> =>
    (owners.get(machineHash) ?? (await load(machineHash))).of;
}
