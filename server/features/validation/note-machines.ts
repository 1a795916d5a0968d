import { sql } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import { clearBefore } from '../../checked-time.ts';
import type { Tx } from '../../db/client.ts';
import { displayIdOf } from '../update-events/index.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { inKeyOrder } from '../../db/key-order.ts';
import type { Answered } from './day-counts.ts';

/** Refused machines that are kept of one license: names of machines cost a caller nothing. */
export const mostRefused = 1000;

type OnLicense = Answered & { licenseId: string };
/** `since`: when its result began in the batch; `first`: when the machine was first heard of in it. */
type Latest = OnLicense & { since: Date; first: Date };

/**
 * Notes of a batch which machines were refused, since when and why, and when each machine was last heard of. Validations
 * that name no license are left out: they cannot be told from noise.
 */
export async function noteMachines(tx: Tx, rows: readonly Answered[]): Promise<void> {
  const latest = latestOnLicenses(rows);
  const noted = await noteRefused(
    tx,
    latest.filter(({ code }) => code !== 'VALID'),
  );
  const heard = latest.filter((row) => row.code === 'VALID' || noted.has(keyOf(row)));
  if (heard.length > 0) await noteHeard(tx, heard);
}

const keyOf = ({ licenseId, request }: OnLicense) => `${licenseId} ${request.machineId}`;

/** The latest validation of each machine on each license. */
function latestOnLicenses(rows: readonly Answered[]): Latest[] {
  const latest = new Map<string, Latest>();
  for (const { licenseId, ...row } of rows.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    if (!licenseId) continue;
    const key = keyOf({ licenseId, ...row });
    const before = latest.get(key);
    const since = before?.code === row.code ? before.since : row.at;
    latest.set(key, { licenseId, ...row, since, first: before?.first ?? row.at });
  }
  return inKeyOrder(latest).map(([, row]) => row);
}

/**
 * A refusal continues while its code stays and the machine was not valid in between; one that arrives after a later one
 * is left out. Returns what was noted.
 */
async function noteRefused(tx: Tx, refused: Latest[]): Promise<Set<string>> {
  if (refused.length === 0) return new Set();
  const fact = (name: 'hostname' | 'platform' | 'architecture' | 'appVersion') =>
    refused.map(({ request }) => request[name] ?? null);
  const { rows } = await sql<{ key: string }>`
    insert into refusals as r
      (license_id, machine_id, code, since, refused_at, hostname, platform, architecture, app_version)
    select n.license_id, n.machine_id, n.code, n.since, n.refused_at, n.hostname, n.platform, n.architecture,
           n.app_version
      from (select u.*, row_number() over (partition by u.license_id order by u.machine_id) as nth from unnest(
             ${refused.map((r) => r.licenseId)}::uuid[], ${refused.map((r) => r.request.machineId)}::text[],
             ${refused.map((r) => r.code)}::text[], ${refused.map((r) => r.since)}::timestamptz[],
             ${refused.map((r) => r.at)}::timestamptz[], ${fact('hostname')}::text[],
             ${fact('platform')}::text[], ${fact('architecture')}::text[], ${fact('appVersion')}::text[])
             as u (license_id, machine_id, code, since, refused_at, hostname, platform, architecture, app_version)) n
     where (select count(*) from refusals o where o.license_id = n.license_id) + n.nth <= ${mostRefused}
        or exists (select from refusals o where o.license_id = n.license_id and o.machine_id = n.machine_id)
    on conflict (license_id, machine_id) do update set
      since = case when r.code = excluded.code and not exists (
                select from activations a where a.license_id = r.license_id and a.machine_id = r.machine_id
                   and a.last_checked_at > r.refused_at) then r.since else excluded.since end,
      code = excluded.code, refused_at = excluded.refused_at,
      hostname = coalesce(excluded.hostname, r.hostname),
      platform = coalesce(excluded.platform, r.platform),
      architecture = coalesce(excluded.architecture, r.architecture),
      app_version = coalesce(excluded.app_version, r.app_version)
      where excluded.refused_at >= r.refused_at
    returning license_id || ' ' || machine_id as key`.execute(tx);
  return new Set(rows.map(({ key }) => key));
}

/**
 * Refreshes the records of the machines, at most every five minutes each, since the list of machines is sorted by an
 * index; and makes those that are missing.
 */
async function noteHeard(tx: Tx, heard: Latest[]): Promise<void> {
  const hashes = heard.map(({ request }) => machineHashOf(request.machineId));
  await sql`
    with heard as (
      select coalesce(c.own_hash, decode(n.hash, 'hex')) as machine_hash, max(n.display_id) as display_id,
             min(n.first) as first, max(n.at) as at
        from unnest(${hashes}::text[], ${hashes.map(displayIdOf)}::text[],
                    ${heard.map((row) => row.activationId)}::uuid[], ${heard.map((row) => row.first)}::timestamptz[],
                    ${heard.map((row) => row.at)}::timestamptz[])
          as n (hash, display_id, activation_id, first, at)
        left join machine_credentials c using (activation_id)
       group by 1)
    insert into machines as m (machine_hash, display_id, first_seen, last_seen, validated_at)
    select h.machine_hash, h.display_id, h.first, h.at, h.at
      from heard h
     where not exists (select from machines k where k.machine_hash = h.machine_hash
                          and k.validated_at > h.at - interval '5 minutes')
     order by h.machine_hash
    on conflict (machine_hash) do update
      set first_seen = least(m.first_seen, excluded.first_seen),
          validated_at = greatest(m.validated_at, excluded.validated_at)`.execute(tx);
}

/** Removes refusals of machines that have not tried again for 90 days. */
export const clearMachineRefusals = clearBefore('refusals', 'refused_at', 90 * dayMs);
