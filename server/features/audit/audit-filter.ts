import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { audit as calls } from '../../../contract/audit.ts';
import type { RouteInput } from '../../../contract/route.ts';
import { containsPattern } from '../../db/sql.ts';

export type Filter = RouteInput<typeof calls.exportCsv>['query'];
type Condition = RawBuilder<SqlBool>;

const dayMs = 86_400_000;
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** What the search looks through: the expression of the index audit_entries_search, to the letter. */
const searched = sql`lower(
  coalesce(user_email, '') || E'\n' || event_type || E'\n' || resource_type || E'\n' || coalesce(resource_id, '')
  || E'\n' || changes_summary || E'\n' || coalesce(api_endpoint, '') || E'\n' || coalesce(ip_address, '')
  || E'\n' || coalesce(error_message, ''))`;

/** A filter by what it costs to follow in the order of the list. */
export type Split = {
  /** One field and the time: an index has exactly these entries, in the order of the list. */
  narrow: Condition[];
  /** Whatever else must hold of each of them. */
  rest: Condition[];
  /** Whether the rest has an index that finds its few entries anywhere. */
  isIndexed: boolean;
};

/** Fields by how few entries they usually leave. */
const fields = {
  resourceId: 'resource_id',
  userId: 'user_id',
  eventType: 'event_type',
  resourceType: 'resource_type',
} as const;

/** Says what of a filter can be followed in an index, and what has to be checked. */
export function split(filter: Filter): Split {
  const [first, ...others] = Object.entries(fields)
    .filter(([name]) => filter[name as keyof typeof fields])
    .map(([name, column]) => sql<SqlBool>`${sql.ref(column)} = ${filter[name as keyof typeof fields]}`);
  // Beside another field it is checked; alone, failures have an index of their own.
  const outcome: Condition[] =
    filter.success === undefined ? [] : [filter.success ? sql`success` : sql`not success`];
  const narrow = first ? [first] : [...outcome];
  if (filter.startDate) narrow.push(sql`timestamp >= ${clamped(Date.parse(filter.startDate))}`);
  if (filter.endDate) narrow.push(until(filter.endDate));
  const { search } = filter;
  const text = search ? [sql<SqlBool>`${searched} like ${containsPattern(search)}`] : [];
  const rest = [...others, ...(first ? outcome : []), ...text];
  return { narrow, rest, isIndexed: others.length > 0 || (search !== undefined && hasTrigram(search)) };
}

/** Without three letters or digits in a row, the index of the search has nothing to look up. */
const hasTrigram = (search: string) => /[\p{L}\p{N}]{3}/u.test(search);

/** A day is included whole, an instant as it stands. */
function until(end: string): Condition {
  const at = Date.parse(end);
  return end.includes('T') ? sql`timestamp <= ${clamped(at)}` : sql`timestamp < ${clamped(at + dayMs)}`;
}

/** Between the years 1970 and 9999, where every entry is. */
const clamped = (at: number) => new Date(Math.min(Math.max(at, 0), latest));
