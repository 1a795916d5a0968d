import { sql, type RawBuilder } from 'kysely';
import type { AuditEntry, audit as calls } from '../../../contract/audit.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Db } from '../../db/client.ts';
import { containsPattern } from '../../db/sql.ts';
import { fail, type Failure } from '../../failure.ts';

type ListQuery = RouteInput<typeof calls.list>['query'];
export type Filter = RouteInput<typeof calls.exportCsv>['query'];
/** A place in the order of the list. */
export type Position = { timestamp: Date; audit_id: string };

/** Totals are counted to here; beyond it, "more than" says enough and costs nothing more. */
const mostCounted = 10_000;
const dayMs = 86_400_000;
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** What the search looks through: the expression of the index audit_entries_search, to the letter. */
const searched = sql`lower(
  coalesce(user_email, '') || E'\n' || event_type || E'\n' || resource_type || E'\n' || coalesce(resource_id, '')
  || E'\n' || changes_summary || E'\n' || coalesce(api_endpoint, '') || E'\n' || coalesce(ip_address, '')
  || E'\n' || coalesce(error_message, ''))`;

/** A page of entries under a filter, the newest first, from `offset` or behind the cursor `after`. */
export async function listEntries(
  db: Db,
  query: ListQuery,
): Promise<RouteAnswer<typeof calls.list> | Failure> {
  const after = query.after === undefined ? undefined : readCursor(query.after);
  if (after === null) {
    const message = 'Must be the nextCursor of a page before';
    return fail('INVALID_INPUT', `after: ${message}`, { details: [{ path: 'after', message }] });
  }
  const [rows, counted] = await Promise.all([
    readPage(db, query, { after, limit: query.limit + 1, offset: query.offset }),
    filtered(db, query)
      .select('audit_id')
      .limit(mostCounted + 1)
      .$call((some) => db.selectFrom(some.as('some')))
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow(),
  ]);
  const hasMore = rows.length > query.limit;
  const page = rows.slice(0, query.limit);
  return {
    entries: page.map(toEntry),
    total: Math.min(counted.n, mostCounted),
    totalIsExact: counted.n <= mostCounted,
    hasMore,
    nextCursor: hasMore ? writeCursor(page.at(-1)!) : null,
  };
}

type Page = { after?: Position | undefined; limit: number; offset?: number };

/** The page is found in the index alone, however deep; only its own rows are read. */
export function readPage(db: Db, filter: Filter, { after, limit, offset = 0 }: Page) {
  const keys = filtered(db, filter)
    .$if(after !== undefined, (q) =>
      q.where(sql<boolean>`(timestamp, audit_id) < (${after?.timestamp}, ${after?.audit_id}::uuid)`),
    )
    .select('audit_id')
    .orderBy('timestamp', 'desc')
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .offset(offset);
  return db
    .selectFrom('audit_entries')
    .select(listColumns)
    .where('audit_id', 'in', keys)
    .orderBy('timestamp', 'desc')
    .orderBy('audit_id', 'desc')
    .execute();
}

function filtered(db: Db, filter: Filter) {
  let query = db.selectFrom('audit_entries');
  if (filter.userId) query = query.where('user_id', '=', filter.userId);
  if (filter.resourceType) query = query.where('resource_type', '=', filter.resourceType);
  if (filter.resourceId) query = query.where('resource_id', '=', filter.resourceId);
  if (filter.eventType) query = query.where('event_type', '=', filter.eventType);
  if (filter.startDate) query = query.where('timestamp', '>=', clamped(Date.parse(filter.startDate)));
  if (filter.endDate) query = query.where(until(filter.endDate));
  if (filter.search) query = query.where(sql<boolean>`${searched} like ${containsPattern(filter.search)}`);
  return query;
}

/** A day is included whole, an instant as it stands. */
function until(end: string): RawBuilder<boolean> {
  const at = Date.parse(end);
  return end.includes('T')
    ? sql<boolean>`timestamp <= ${clamped(at)}`
    : sql<boolean>`timestamp < ${clamped(at + dayMs)}`;
}

/** Between the years 1970 and 9999, where every entry is. */
const clamped = (at: number) => new Date(Math.min(Math.max(at, 0), latest));

const listColumns = [
  'audit_id',
  'timestamp',
  'user_email',
  'user_role',
  'event_type',
  'resource_type',
  'resource_id',
  'changes_summary',
  'api_endpoint',
  'ip_address',
  'success',
  'error_message',
] as const;

/** A row as it travels. */
export const toEntry = (row: Omit<AuditEntry, 'timestamp'> & { timestamp: Date }): AuditEntry => ({
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
});

const writeCursor = ({ timestamp, audit_id }: Position): string =>
  Buffer.from(`${timestamp.toISOString()} ${audit_id}`).toString('base64url');

function readCursor(cursor: string): Position | null {
  const [at, audit_id] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const isPlace =
    /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(at ?? '') &&
    /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(audit_id ?? '');
  return isPlace && !Number.isNaN(Date.parse(at!)) ? { timestamp: new Date(at!), audit_id: audit_id! } : null;
}
