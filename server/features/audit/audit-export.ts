import type { Position } from '../../../contract/audit-cursor.ts';
import { utcDay } from '../../../contract/durations.ts';
import type { Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import { csvStream } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import type { DownloadFile } from '../../http/call.ts';
import { split, type Filter } from './audit-filter.ts';
import { within, type FoundPage, type ListRow } from './audit-page.ts';

/** The maximum number of rows in memory, and of entries scanned per batch. */
const atOnce = 2000;
const lookedAt = 20_000;

type Batch = FoundPage & { next: Position | undefined };

/**
 * Exports all entries of the filter as CSV, and records who exported them. Each batch is a separate query, so an export
 * of millions holds neither a connection nor a snapshot, and stops when the reader disconnects.
 */
export async function exportEntries(parts: ChangeParts, by: Caller, filter: Filter): Promise<DownloadFile> {
  const { db } = parts;
  const first = await batchAfter(db, filter, undefined);
  const what = `exported as CSV${Object.keys(filter).length > 0 ? ` (${described(filter)})` : ''}`;
  await runChange(parts, by, ({ audit }) => audit('audit.exported', null, { what, after: { filter } }));
  return {
    fileName: `audit-logs-${utcDay(by.now)}.csv`,
    stream: csvStream(batchesFrom(db, filter, first), {
      Timestamp: (e) => e.timestamp.toISOString(),
      User: (e) => e.user_email,
      Role: (e) => e.user_role,
      Action: (e) => e.event_type,
      Resource: (e) => e.resource_type,
      'Resource Id': (e) => e.resource_id,
      Details: (e) => e.changes_summary,
      'IP Address': (e) => e.ip_address,
      Status: (e) => (e.success ? 'Success' : 'Failed'),
      Error: (e) => e.error_message,
      Endpoint: (e) => e.api_endpoint,
      Id: (e) => e.audit_id,
    }),
  };
}

const described = (filter: Filter) =>
  Object.entries(filter)
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');

async function* batchesFrom(db: Db, filter: Filter, first: Batch): AsyncGenerator<ListRow[]> {
  for (let batch = first; ;) {
    yield batch.rows;
    if (!batch.next) return;
    batch = await batchAfter(db, filter, batch.next);
  }
}

async function batchAfter(db: Db, filter: Filter, after: Position | undefined): Promise<Batch> {
  const batch = await within(db, split(filter), { after, limit: atOnce, offset: 0 }, lookedAt);
  return { ...batch, next: batch.rows.length === atOnce ? batch.rows.at(-1) : batch.searchedTo };
}
