import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Tables } from '../../db/tables.ts';

export type EntryRow = Omit<Selectable<Tables['audit_entries']>, 'mac'>;
export type SignedEntryRow = EntryRow & { mac: Buffer | null };

/**
 * The canonical text of an entry, identical before writing and after reading, which is signed and sealed. The format
 * must never change; a new column needs an additional format.
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

/** The canonical text of an entry as it was read; empty if ours have none such, as with columns of other types. */
export function textAsRead(row: EntryRow): string {
  try {
    return canonicalEntry(row);
  } catch {
    return '';
  }
}

/** The part of an entry in its seal: SHA-256 over all fields, including the mac. */
export function hashEntry(row: SignedEntryRow): Buffer {
  return createHash('sha256')
    .update(`${textAsRead(row)}\n${row.mac?.toString('hex') ?? ''}`)
    .digest();
}

/** Sorts the keys of every object, since jsonb does not preserve their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
