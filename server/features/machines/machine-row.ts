import { sql, type Selectable } from 'kysely';
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
 * The hashes of the machines that a search finds: by the beginning of the display id or of the hash, or by the whole
 * id that the machine sends. Each is a range of an index.
 */
export function foundBy(search: string, hashOfSearch: string) {
  const sign = search.toUpperCase();
  const byDisplayId = /^[0-9A-Z]{1,12}$/.test(sign)
    ? sql`select machine_hash from machines where display_id >= ${sign} and display_id < ${`${sign}~`}`
    : sql`select machine_hash from machines where false`;
  const byHash = /^[0-9a-f]{1,64}$/i.test(search)
    ? sql`select machine_hash from machines
           where machine_hash between decode(${search.padEnd(64, '0')}, 'hex') and decode(${search.padEnd(64, 'f')}, 'hex')`
    : sql`select machine_hash from machines where false`;
  return sql`(${byDisplayId} union ${byHash}
              union select machine_hash from machines where machine_hash = decode(${hashOfSearch}, 'hex'))`;
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
