import type { AuditEntry, NamedRecord, audit as calls } from '../../../contract/audit.ts';
import { readCursor, writeCursor } from '../../../contract/audit-cursor.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { failField, type Failure } from '../../failure.ts';
import { split, type Split } from './audit-filter.ts';
import { countUpTo, findPage, type ListRow } from './audit-page.ts';
import { namedRecords } from './named-records.ts';

type ListQuery = RouteInput<typeof calls.list>['query'];

/** Totals are counted up to this number; beyond it, the console shows "more than". */
const mostCounted = 10_000;

type Count = (filter: Split) => Promise<number | undefined>;

/** How long to cache that the whole log exceeds the counted maximum, which only a cleanup can change. */
const manyForMs = 10_000;

/** Counts the entries of a filter; the total of a log of millions is cached between pages. */
export function createCount(db: Db): Count {
  let manyUntil = 0;
  return async (filter) => {
    const isWhole = filter.narrow.length === 0 && filter.rest.length === 0;
    if (isWhole && performance.now() < manyUntil) return mostCounted + 1;
    const counted = await countUpTo(db, filter, mostCounted + 1);
    if (isWhole && (counted ?? 0) > mostCounted) manyUntil = performance.now() + manyForMs;
    return counted;
  };
}

/** A page of entries under a filter, newest first, from `offset` or after the cursor `after`. */
export async function listEntries(
  context: Pick<Context, 'db' | 'pool'>,
  count: Count,
  query: ListQuery,
): Promise<RouteAnswer<typeof calls.list> | Failure> {
  const { limit, offset } = query;
  const after = query.after === undefined ? undefined : readCursor(query.after);
  if (after === null) return failField('INVALID_INPUT', 'after', 'Must be the nextCursor of a previous page');
  const filter = split(query);
  const [{ rows, searchedTo }, counted] = await Promise.all([
    findPage(context.db, filter, { after, limit: limit + 1, offset }),
    count(filter),
  ]);
  const page = rows.slice(0, limit);
  const records = await namedRecords(context, page);
  const next = (rows.length > limit ? page.at(-1) : undefined) ?? searchedTo;
  // a page with the last entry needs no count; one beyond it says nothing of how many there are
  const isAll = next === undefined && after === undefined && (page.length > 0 || offset === 0);
  return {
    entries: page.map((row) => toEntry(row, records)),
    total: counted === undefined ? page.length + (after ? 0 : offset) : Math.min(counted, mostCounted),
    totalIsExact: counted === undefined ? isAll : counted <= mostCounted,
    hasMore: next !== undefined,
    nextCursor: next ? writeCursor(next) : null,
    searchedBackTo: rows.length <= limit ? (searchedTo?.timestamp.toISOString() ?? null) : null,
  };
}

/** An entry with the records that it names. */
export const toEntry = (row: ListRow, records: ReadonlyMap<string, NamedRecord[]>): AuditEntry => ({
  audit_id: row.audit_id,
  timestamp: row.timestamp.toISOString(),
  user_email: row.user_email,
  user_role: row.user_role,
  event_type: row.event_type,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  changes_summary: row.changes_summary,
  api_endpoint: row.api_endpoint,
  ip_address: row.ip_address,
  success: row.success,
  error_message: row.error_message,
  records: records.get(row.audit_id) ?? [],
});
