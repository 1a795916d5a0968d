import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** An entry as it is stored. */
export type EntryRow = Omit<Selectable<Tables['audit_entries']>, 'mac'>;
export type SignedEntryRow = EntryRow & { mac: Buffer | null };

/**
 * An entry as one text that is the same for the same entry, whether it is about to be written or was read: what
 * is signed and sealed. Its form may never change; a new column needs a new form beside this one.
 */
export function canonicalEntry(row: EntryRow): string {
  return JSON.stringify([
    'lanyard audit entry 1',
    row.audit_id,
    row.timestamp.toISOString(),
    row.user_id,
    row.user_email,
    row.user_role,
    row.event_type,
    row.resource_type,
    row.resource_id,
    row.changes_summary,
    sorted(row.before),
    sorted(row.after),
    row.api_endpoint,
    row.ip_address,
    row.user_agent,
    row.request_id,
    row.success,
    row.error_message,
  ]);
}

/** What a seal holds of an entry: SHA-256 over all of it, its mac included. */
export function hashEntry(row: SignedEntryRow): Buffer {
  return createHash('sha256')
    .update(`${canonicalEntry(row)}\n${row.mac?.toString('hex') ?? ''}`)
    .digest();
}

/** The value with the keys of every object in one order: jsonb keeps an order of its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
