import type { Db } from '../../db/client.ts';

/** Update events of a machine, the latest first; `known_release` is null where the release was removed. */
export const latestEvents = (db: Db, machineHash: Buffer) =>
  db
    .selectFrom('update_events as e')
    .leftJoin('releases as r', 'r.release_id', 'e.release_id')
    .selectAll('e')
    .select('r.release_id as known_release')
    .where('machine_hash', '=', machineHash)
    .orderBy('occurred_at', 'desc')
    .orderBy('written_order', (order) => order.desc().nullsLast());
