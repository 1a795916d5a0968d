import { sql } from 'kysely';
import type { Pool } from 'pg';
import { batchLoader } from '../../db/batch-loader.ts';
import type { Db } from '../../db/client.ts';
import { runPrepared } from '../../db/prepared.ts';
import { activationsOfRecord } from '../../db/sql.ts';

/** A machine by the SHA-256 of its id, and the activation of its token if it sent one. */
export type AskingMachine = { machineHash: string; activationId?: string | undefined };

/** The customer of a machine, whether its license and the customer are active, and whether the machine enrolled there. */
export type CustomerOfMachine = { customerId: string; isActive: boolean; isProven: boolean };

type Row = { customer_id: string | null; is_active: boolean | null; is_proven: boolean | null };

/**
 * The customers of machines, in their order; undefined for one without an activation. Of several, the license of the
 * token counts, else a seat that is held before one that is not, an active license before others, a proven machine
 * before a named one, and then the latest validation.
 */
export async function customersOfMachines(
  { db, pool }: { db: Db; pool: Pool },
  machines: readonly AskingMachine[],
): Promise<(CustomerOfMachine | undefined)[]> {
  const hashes = machines.map(({ machineHash }) => Buffer.from(machineHash, 'hex'));
  const tokens = machines.map(({ activationId }) => activationId ?? null);
  const query = sql<Row>`
    select held.customer_id, held.is_active, held.is_proven
      from unnest(${hashes}::bytea[], ${tokens}::uuid[]) with ordinality as asked (hash, token, place)
      left join lateral (
        select l.customer_id,
               l.status = 'active' and c.status = 'active' and c.deleted_at is null as is_active,
               m.activation_id is not null as is_proven
          from ${activationsOfRecord(sql`asked.hash`)} a
          join licenses l using (license_id)
          join customers c using (customer_id)
          left join machine_credentials m using (activation_id)
         order by a.activation_id = asked.token desc nulls last, a.status = 'active' desc,
                  l.status = 'active' and c.status = 'active' and c.deleted_at is null desc,
                  m.activation_id is not null desc, a.last_checked_at desc nulls last, a.activation_id desc
         limit 1) as held on true
     order by asked.place`.compile(db);
  const rows = await runPrepared(pool, query);
  return rows.map(({ customer_id, is_active, is_proven }) =>
    customer_id === null
      ? undefined
      : { customerId: customer_id, isActive: is_active === true, isProven: is_proven === true },
  );
}

/** Finds the customer of one machine; machines that ask at the same time share a query. */
export const createCustomerFinder = (parts: { db: Db; pool: Pool }) =>
  batchLoader((machines: AskingMachine[]) => customersOfMachines(parts, machines));
