import { sql } from 'kysely';
import type { Tx } from '../../db/client.ts';
import { displayIdOf } from './machine-id.ts';

/** Makes a record for each machine that has none. They come in the order of their hashes, so that batches cannot deadlock. */
export async function makeRecords(
  tx: Tx,
  machines: readonly { machineHash: string; firstAt: Date }[],
): Promise<void> {
  const hashes = machines.map((m) => m.machineHash);
  await sql`
    insert into machines (machine_hash, display_id, first_seen, last_seen)
    select decode(hash, 'hex'), display_id, seen, seen
      from unnest(${hashes}::text[], ${hashes.map(displayIdOf)}::text[], ${machines.map((m) => m.firstAt)}::timestamptz[])
        as m (hash, display_id, seen)
    on conflict do nothing`.execute(tx);
}
