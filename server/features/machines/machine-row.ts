import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Machine } from '../../../contract/machines.ts';
import type { Db } from '../../db/client.ts';
import { onMachinesFoundBy, recordHash } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { fail, type Failure } from '../../failure.ts';
import { machineHashOf } from '../../machine-hash.ts';

export type MachineRow = Selectable<Tables['machines']>;

/** Exact text of spec part 2, section 2.6. */
export const notFound = fail('NOT_FOUND', 'Machine not found');

/** Finds by display id in any case, by the SHA-256 of the machine's id in hex, or by the id itself. */
export async function findMachine(db: Db, id: string): Promise<MachineRow | Failure> {
  const hashes = [machineHashOf(id), ...(/^[0-9a-f]{64}$/i.test(id) ? [id] : [])];
  const row = await db
    .selectFrom('machines')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('display_id', '=', id.toUpperCase()),
        eb(
          'machine_hash',
          'in',
          hashes.map((hash) => Buffer.from(hash, 'hex')),
        ),
      ]),
    )
    // an id assigned by the service takes precedence over one that the machine chose
    .orderBy((eb) => eb('machine_hash', '=', Buffer.from(hashes[0] ?? '', 'hex')))
    .executeTakeFirst();
  return row ?? notFound;
}

/**
 * Condition of a search for machines: by the prefix of the display id or hash, by the full machine id, or by the host
 * name or a fragment of that id on an activation. Each uses an index.
 */
export function foundBy(search: string): RawBuilder<boolean> {
  const ways = [sql`m.machine_hash = decode(${machineHashOf(search)}, 'hex')`];
  const displayId = search.toUpperCase();
  if (/^[0-9A-Z]{1,12}$/.test(displayId))
    ways.push(sql`m.display_id >= ${displayId} and m.display_id < ${`${displayId}~`}`);
  if (/^[0-9a-f]{1,64}$/i.test(search)) {
    const [least, most] = [search.padEnd(64, '0'), search.padEnd(64, 'f')];
    ways.push(sql`m.machine_hash between decode(${least}, 'hex') and decode(${most}, 'hex')`);
  }
  const byItself = sql<boolean>`(${sql.join(ways, sql` or `)})`;
  const activated = onMachinesFoundBy(search);
  return activated
    ? sql`m.machine_hash in (select m.machine_hash from machines m where ${byItself}
          union all ${recordsWhere(activated)})`
    : byItself;
}

/**
 * The hashes of the records of machines with an activation or a refusal that matches, by columns that both have. A seat
 * may have a record of its own, and so do its refusals (docs/decisions/046-machine-credentials.md).
 */
export const recordsWhere = (matching: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ${recordHash('k', 'a')}
    from (select activation_id, machine_id from activations where ${matching}) a
    left join machine_credentials k using (activation_id)
  union all
  select ${recordHash('k', 'r')}
    from (select license_id, machine_id from refusals where ${matching}) r
    left join activations held on held.license_id = r.license_id and held.machine_id = r.machine_id
    left join machine_credentials k on k.activation_id = held.activation_id`;

/** `seen_at`: when it last validated or asked for updates; `last_seen` knows no validations. */
export function toMachine(row: MachineRow & { seen_at: Date }): Machine {
  return {
    displayId: row.display_id,
    machineIdHash: row.machine_hash.toString('hex'),
    platform: row.platform,
    architecture: row.architecture,
    channel: row.channel,
    lastVersion: row.last_version,
    osVersion: row.os_version,
    appVersion: row.app_version,
    firstSeen: row.first_seen.toISOString(),
    lastSeen: row.seen_at.toISOString(),
    totalUpdateChecks: row.total_checks,
    totalDownloads: row.total_downloads,
    notes: row.notes,
    provenAt: row.proven_at?.toISOString() ?? null,
  };
}
