import { sql } from 'kysely';
import type { Tx } from '../../db/client.ts';
import type { UpdateEvent } from './update-event.ts';

/**
 * Records which machines a feed offered which release, the first time. What machines report themselves does not count.
 * The caller must have locked the machines; a release that was removed in the meantime is left out.
 */
export async function writeOffers(tx: Tx, events: readonly UpdateEvent[]): Promise<void> {
  const offers = events.filter(({ type, reported, releaseId }) => type === 'check' && !reported && releaseId);
  if (offers.length === 0) return;
  await sql`
    with held as materialized (
      select release_id from releases
       where release_id = any(${[...new Set(offers.map((offer) => offer.releaseId))]}::uuid[])
       order by release_id for key share)
    insert into release_offers (release_id, machine_hash, offered_at)
    select distinct on (o.release_id, o.hash) o.release_id, decode(o.hash, 'hex'), o.at
      from unnest(${offers.map((offer) => offer.releaseId)}::uuid[], ${offers.map((offer) => offer.machineHash)}::text[],
                  ${offers.map((offer) => offer.receivedAt)}::timestamptz[]) as o (release_id, hash, at)
      join held using (release_id)
     order by o.release_id, o.hash, o.at
    on conflict do nothing`.execute(tx);
}
