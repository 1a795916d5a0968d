import type { AuditResource } from '../../../contract/audit-events.ts';
import type { Db } from '../../db/client.ts';

/** Selects from the entries about a record, the newest first. */
export const entriesAbout = (db: Db, type: AuditResource, id: string) =>
  db
    .selectFrom('audit_entries')
    .where('resource_id', '=', id)
    .where('resource_type', '=', type)
    .orderBy('timestamp', 'desc')
    .orderBy('audit_id', 'desc');

/** A summary without the name of its record, for a place below that name. The name must not contain `: `. */
export const withoutName = (summary: string): string => summary.slice(summary.indexOf(': ') + 2);
