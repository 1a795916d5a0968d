import { sql, type RawBuilder } from 'kysely';
import type { MachineStanding, MachineState } from '../../../contract/machine-standing.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import { mayRead, type Caller } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { activationsWithHash, idHash, lastSeenOf, recordHash, releaseRun } from '../../db/sql.ts';

/** The record of an activation `a`: that of its machine id, unless its credential `k` has one of its own. */
export const recordOf = recordHash('k', 'a');

/**
 * All attempts of machines on licenses, as a table: their seats, and the refusals of those that never had one. `hash`:
 * of one machine only, by the indexes of its id.
 */
export function attempts(hash?: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select ${recordOf} as hash, a.license_id, a.machine_id, a.activation_id, a.status, a.created_at, a.updated_at,
           a.last_checked_at, a.offline_until, k.cloned_at, a.hostname, a.platform, a.architecture, a.app_version
      from activations a left join machine_credentials k using (activation_id)
     where ${hash ? sql`a.activation_id in (${activationsWithHash(hash)}) and ${recordOf} = ${hash}` : sql`true`}
    union all
    select ${idHash('r')}, r.license_id, r.machine_id, null, null, null, null, r.refused_at, null, null,
           r.hostname, r.platform, r.architecture, r.app_version
      from refusals r
     where ${hash ? sql`${idHash('r')} = ${hash}` : sql`true`}
       and not exists (select from activations held
                        where held.license_id = r.license_id and held.machine_id = r.machine_id))`;
}

/** What a validation would answer at `now`: `decideValidation` on the rows of seat, license and customer. */
const codeAt = (now: Date) => sql<ValidationCode>`case
    when c.deleted_at is not null or c.status <> 'active' then 'CUSTOMER_INACTIVE'
    when l.status = 'revoked' then 'REVOKED'
    when ${now} < l.valid_from then 'NOT_YET_VALID'
    when ${now} > l.valid_until then 'EXPIRED'
    when s.status = 'active' then 'VALID'
    when s.status = 'deactivated' then 'MACHINE_DEACTIVATED'
    when l.current_activations >= l.max_activations then 'TOO_MANY_ACTIVATIONS'
    else 'VALID' end`;

/** A machine that gave its seat back is not refused before it has tried to return. */
const stateAt = (now: Date) => sql<MachineState>`case
    when x.code = 'TOO_MANY_ACTIVATIONS' and x.refused_since is null then 'no_seat'
    when x.code <> 'VALID' then 'refused'
    when x.status is distinct from 'active' or x.offline_until <= ${now} then 'no_seat'
    when x.cloned_at is not null then 'clone'
    when x.offline_until is not null then 'offline'
    else 'active' end`;

/**
 * For each machine its best license at `now`: one that it holds a valid seat on, else the one that it used last, be it
 * in vain. With `hash`, of that machine only.
 */
export const seatsAt = (now: Date, hash?: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select x.*, ${stateAt(now)} as state
    from (select distinct on (s.hash) s.*, l.license_key, l.customer_id, l.valid_until, l.max_activations,
                 l.current_activations, c.name as customer_name, d.code,
                 case when r.code = d.code and r.refused_at >= coalesce(s.last_checked_at, '-infinity')
                      then r.since end as refused_since,
                 case d.code when 'EXPIRED' then l.valid_until when 'CUSTOMER_INACTIVE' then c.deleted_at
                             when 'REVOKED' then l.updated_at -- a revoked license cannot be edited
                             when 'MACHINE_DEACTIVATED' then s.updated_at end as ended_at
            from ${attempts(hash)} s
            join licenses l using (license_id) join customers c using (customer_id)
           cross join lateral (select ${codeAt(now)} as code) d
            left join refusals r on r.license_id = s.license_id and r.machine_id = s.machine_id
           order by s.hash, (d.code = 'VALID' and s.status is not distinct from 'active') desc,
                    greatest(s.last_checked_at, r.refused_at, s.created_at) desc, s.license_id, s.machine_id) x)`;

/** The machines that tried a license without a seat on it, and would not be refused with the same code at `now`. */
export const refusedNoLonger = (now: Date): RawBuilder<unknown> => sql`
  select ${idHash('r')} as hash
    from refusals r join licenses l using (license_id) join customers c using (customer_id)
   cross join (select null::text as status) s
   cross join lateral (select ${codeAt(now)} as code) d
   where (d.code = 'VALID' or (d.code = 'TOO_MANY_ACTIVATIONS' and d.code <> r.code))
     and not exists (select from activations held
                      where held.license_id = r.license_id and held.machine_id = r.machine_id)`;

const versionRun = releaseRun(
  sql`coalesce(m.last_version, s.app_version)`,
  sql`coalesce(m.platform, s.platform)`,
  sql`coalesce(m.architecture, s.architecture)`,
);

type Row = {
  hash: string;
  display_id: string;
  last_seen: Date;
  last_version: string | null;
  release_id: string | null;
  platform: string | null;
  architecture: string | null;
  hostname: string | null;
  seat_platform: string | null;
  seat_architecture: string | null;
  seat_version: string | null;
  activation_id: string | null;
  status: string | null;
  updated_at: Date;
  last_checked_at: Date | null;
  offline_until: Date | null;
  license_id: string | null;
  license_key: string;
  valid_until: Date;
  max_activations: number;
  current_activations: number;
  customer_id: string;
  customer_name: string;
  code: ValidationCode | null;
  state: MachineState | null;
  refused_since: Date | null;
};

/**
 * The standings of the machines that `page` selects (columns of `machines`), in the order of `order`, without what the
 * caller may not read.
 */
export async function readStandings(
  db: Db,
  by: Caller,
  page: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<{ hash: string; standing: MachineStanding }[]> {
  const { rows } = await sql<Row>`
    with m as materialized (${page})
    select encode(m.machine_hash, 'hex') as hash, m.display_id, ${lastSeenOf(sql`s.last_checked_at`)} as last_seen, m.last_version, ${versionRun} as release_id, m.platform,
           m.architecture, s.hostname, s.platform as seat_platform, s.architecture as seat_architecture,
           s.app_version as seat_version, s.activation_id, s.status, s.updated_at, s.last_checked_at,
           s.offline_until, s.license_id, s.license_key, s.valid_until, s.max_activations, s.current_activations,
           s.customer_id, s.customer_name, s.code, s.state,
           -- a refusal of before the end was that of an earlier end, unless a clock ahead has dated the end
           case when s.ended_at > ${by.now} then coalesce(s.refused_since, s.ended_at)
                else greatest(s.refused_since, s.ended_at) end as refused_since
      from m left join lateral (select * from ${seatsAt(by.now, sql`m.machine_hash`)} one) s on true
     order by ${order}`.execute(db);
  const licenses = mayRead(by, 'licenses');
  const customers = mayRead(by, 'customers');
  return rows.map((row) => ({ hash: row.hash, standing: toStanding(row, { licenses, customers }) }));
}

function toStanding(row: Row, may: { licenses: boolean; customers: boolean }): MachineStanding {
  const known = row.license_id !== null;
  return {
    displayId: row.display_id,
    hostname: row.hostname,
    platform: row.platform ?? row.seat_platform,
    architecture: row.architecture ?? row.seat_architecture,
    version: row.last_version ?? row.seat_version,
    releaseId: row.release_id,
    lastSeen: row.last_seen.toISOString(),
    state: may.licenses ? (row.state ?? 'no_seat') : null,
    code: may.licenses ? row.code : null,
    since: may.licenses && row.state === 'refused' ? (row.refused_since?.toISOString() ?? null) : null,
    license:
      may.licenses && row.license_id !== null
        ? {
            licenseId: row.license_id,
            licenseKey: row.license_key,
            validUntil: row.valid_until.toISOString(),
            maxActivations: row.max_activations,
            currentActivations: row.current_activations,
          }
        : null,
    seat:
      may.licenses && row.activation_id !== null && row.status === 'active'
        ? {
            activationId: row.activation_id,
            since: row.updated_at.toISOString(),
            lastCheckedAt: row.last_checked_at?.toISOString() ?? null,
          }
        : null,
    offlineUntil: may.licenses ? (row.offline_until?.toISOString() ?? null) : null,
    customer: may.customers && known ? { customerId: row.customer_id, name: row.customer_name } : null,
  };
}
