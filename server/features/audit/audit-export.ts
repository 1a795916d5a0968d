import type { Caller } from '../../caller.ts';
import { csvStream } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import type { CsvFile } from '../../http/call.ts';
import { writeAudit } from './audit.ts';
import { readPage, type Filter } from './audit-list.ts';

const atOnce = 2000;

type Rows = Awaited<ReturnType<typeof readPage>>;

/**
 * The whole filter as a CSV file, and an entry that says who took it. Each batch is a query of its own: an export of
 * millions holds neither a connection nor a snapshot, and ends where its reader stops reading.
 */
export async function exportEntries(db: Db, by: Caller, filter: Filter): Promise<CsvFile> {
  const first = await readPage(db, filter, { limit: atOnce });
  await writeAudit(db, by, {
    event: 'audit.exported',
    resourceType: 'audit',
    resourceId: null,
    summary: `Exported the audit log${Object.keys(filter).length > 0 ? ` (${described(filter)})` : ''}`,
    after: { filter },
  });
  return {
    fileName: `audit-logs-${by.now.toISOString().slice(0, 10)}.csv`,
    stream: csvStream(rowsFrom(db, filter, first), {
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

async function* rowsFrom(db: Db, filter: Filter, first: Rows): AsyncGenerator<Rows[number]> {
  for (let rows = first; ;) {
    yield* rows;
    if (rows.length < atOnce) return;
    rows = await readPage(db, filter, { limit: atOnce, after: rows.at(-1)! });
  }
}
