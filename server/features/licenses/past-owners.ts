import { sql, type RawBuilder } from 'kysely';
import type { License } from '../../../contract/licenses.ts';
import type { Tx } from '../../db/client.ts';

/**
 * Keeps that a customer held the license until now: it is transferred or deleted. Later than the transfer before it, which
 * may have been in the same millisecond.
 */
export const keepPastOwner = (tx: Tx, { licenseId, customerId }: License, now: Date) =>
  tx
    .insertInto('past_license_owners')
    .values({
      license_id: licenseId,
      customer_id: customerId,
      until: sql`greatest(${now}::timestamptz, (
        select max(until) + interval '1 millisecond' from past_license_owners where license_id = ${licenseId}))`,
    })
    .execute();

/**
 * The licenses that a customer holds or held, as a table of `license_id`, `since` and `until`; infinite where it always
 * did, or still does.
 */
export const ownershipsOf = (customerId: string): RawBuilder<unknown> => sql`(
  select l.license_id, coalesce((select max(p.until) from past_license_owners p
                                  where p.license_id = l.license_id), '-infinity') as since,
         'infinity'::timestamptz as until
    from licenses l where l.customer_id = ${customerId}
  union all
  select o.license_id, coalesce((select max(p.until) from past_license_owners p
                                  where p.license_id = o.license_id and p.until < o.until), '-infinity'),
         o.until
    from past_license_owners o where o.customer_id = ${customerId})`;
