import { sql, type RawBuilder } from 'kysely';
import type { License } from '../../../contract/licenses.ts';
import type { Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';
import type { Tx } from '../../db/client.ts';

/**
 * Keeps that a customer held the license until now: it is transferred or deleted. By a clock that is behind, the next
 * owner would have held it before. Later than the transfer before it, which may have been in the same millisecond. A seat
 * that ended by a clock that was ahead ended before: else its machine would be one of the next owner.
 */
export async function keepPastOwner(tx: Tx, { licenseId, customerId }: License, now: Date): Promise<void> {
  const { until } = await tx
    .insertInto('past_license_owners')
    .values({
      license_id: licenseId,
      customer_id: customerId,
      until: sql`greatest(${now}::timestamptz,
        (select at from newest_moment where at > ${now}::timestamptz + interval '1 day'), (
        select max(until) + interval '1 millisecond' from past_license_owners where license_id = ${licenseId}))`,
    })
    .returning('until')
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('activations')
    .set({ updated_at: new Date(until.getTime() - 1) })
    .where('license_id', '=', licenseId)
    .where('status', '<>', 'active')
    .where('updated_at', '>=', until)
    .execute();
}

/**
 * Sets to now, in their order, the ends that a clock that was ahead left in the future: until then, what the next owner
 * does with the license would be shown to the former one. With them the seats that ended before.
 */
export async function endOwnershipsAhead({ tx }: Change, time: CheckedTime): Promise<void> {
  const ahead = aheadOf(time);
  await sql`
    with wrong as (
      select license_id, until, row_number() over (partition by license_id order by until) as nth
        from past_license_owners where until > ${ahead}),
    corrected as (
      update past_license_owners p
         set until = w.nth * interval '1 millisecond' + greatest(${time.now}::timestamptz, (
           select max(r.until) from past_license_owners r where r.license_id = w.license_id and r.until <= ${ahead}))
        from wrong w where p.license_id = w.license_id and p.until = w.until
      returning p.license_id, w.until as was, p.until as is_now)
    update activations a set updated_at = c.is_now - interval '1 millisecond'
      from corrected c
     where a.license_id = c.license_id and a.status <> 'active' and a.updated_at > ${ahead} and a.updated_at < c.was
       and not exists (select from corrected e
                        where e.license_id = c.license_id and e.was < c.was and e.was > a.updated_at)`.execute(
    tx,
  );
}

/** Since when a license `l` is its customer's; infinite where it always was. */
const heldSince = sql<Date>`coalesce((select max(p.until) from past_license_owners p
                                             where p.license_id = l.license_id), '-infinity')`;

/**
 * The licenses that a customer holds or held, as a table of `license_id`, `since` and `until`; infinite where it always
 * did, or still does.
 */
export const ownershipsOf = (customerId: string): RawBuilder<unknown> => sql`(
  select l.license_id, ${heldSince} as since, 'infinity'::timestamptz as until
    from licenses l where l.customer_id = ${customerId}
  union all
  select o.license_id, coalesce((select max(p.until) from past_license_owners p
                                  where p.license_id = o.license_id and p.until < o.until), '-infinity'),
         o.until
    from past_license_owners o where o.customer_id = ${customerId})`;
