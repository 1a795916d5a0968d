import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Machine } from '../../../contract/machines.ts';
import type { Db } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';

export type MachineRow = Selectable<Tables['machines']>;

/** The display id in any case, or the SHA-256 of the machine's id in hex. */
export async function findMachine(db: Db, id: string): Promise<MachineRow | undefined> {
  const query = db.selectFrom('machines').selectAll();
  return /^[0-9a-f]{64}$/i.test(id)
    ? query.where('machine_hash', '=', Buffer.from(id, 'hex')).executeTakeFirst()
    : query.where('display_id', '=', id.toUpperCase()).executeTakeFirst();
}

/**
 * Whether a search finds a machine: by the beginning of its display id or of its hash, or by the whole id that it
 * sends. Each is a range of an index.
 */
export function foundBy(search: string, hashOfSearch: string): RawBuilder<boolean> {
  const ways = [sql`m.machine_hash = decode(${hashOfSearch}, 'hex')`];
  const sign = search.toUpperCase();
  if (/^[0-9A-Z]{1,12}$/.test(sign)) ways.push(sql`m.display_id >= ${sign} and m.display_id < ${`${sign}~`}`);
  if (/^[0-9a-f]{1,64}$/i.test(search)) {
    const [least, most] = [search.padEnd(64, '0'), search.padEnd(64, 'f')];
    ways.push(sql`m.machine_hash between decode(${least}, 'hex') and decode(${most}, 'hex')`);
  }
  return sql`(${sql.join(ways, sql` or `)})`;
}

/** A row as it travels. */
export function toMachine(row: MachineRow): Machine {
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
    lastSeen: row.last_seen.toISOString(),
    totalUpdateChecks: row.total_checks,
    totalDownloads: row.total_downloads,
    notes: row.notes,
  };
}
