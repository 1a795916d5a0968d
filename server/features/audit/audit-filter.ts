import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import type { audit as calls } from '../../../contract/audit.ts';
import type { RouteInput } from '../../../contract/route.ts';
import { containsPattern, sigmaForms } from '../../db/sql.ts';

export type Filter = RouteInput<typeof calls.exportCsv>['query'];
type Condition = RawBuilder<SqlBool>;

const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The searched text; must match the expression of the index audit_entries_search exactly. */
const searched = sql`lower(
  coalesce(user_email, '') || E'\n' || event_type || E'\n' || resource_type || E'\n' || coalesce(resource_id, '')
  || E'\n' || changes_summary || E'\n' || coalesce(api_endpoint, '') || E'\n' || coalesce(ip_address, '')
  || E'\n' || coalesce(error_message, ''))`;

/** A filter, split by how it can use the index of the list order. */
export type Split = {
  /** Conditions on one field and the time, which an index covers in list order. */
  narrow: Condition[];
  /** All other conditions. */
  rest: Condition[];
  /** Whether an index can find the matches of `rest`. */
  isIndexed: boolean;
};

/** Fields by selectivity, the most selective first. */
const fields = {
  resourceId: 'resource_id',
  userId: 'user_id',
  eventType: 'event_type',
  resourceType: 'resource_type',
} as const;

/** Splits a filter into the part an index covers and the part to check per row. */
export function split(filter: Filter): Split {
  const [first, ...others] = Object.entries(fields)
    .filter(([name]) => filter[name as keyof typeof fields])
    .map(([name, column]) => sql<SqlBool>`${sql.ref(column)} = ${filter[name as keyof typeof fields]}`);
  // Checked per row if combined with another field; failures alone have an index.
  const outcome: Condition[] =
    filter.success === undefined ? [] : [filter.success ? sql`success` : sql`not success`];
  const narrow = first ? [first] : [...outcome];
  if (filter.startDate) narrow.push(sql`timestamp >= ${clamped(Date.parse(filter.startDate))}`);
  if (filter.endDate) narrow.push(until(filter.endDate));
  const { search } = filter;
  const text = search ? [containsText(search)] : [];
  const rest = [...others, ...(first ? outcome : []), ...text];
  return { narrow, rest, isIndexed: others.length > 0 || (search !== undefined && hasTrigram(search)) };
}

const containsText = (search: string): Condition =>
  sql`(${sql.join(
    // an event is shown in words: `customer updated` finds customer.updated, by any sign in place of the space, and
    // `upload canceled` upload.cancelled; so are fields: `max activations` finds maxActivations
    [...new Set(sigmaForms(search).flatMap((form) => [form, form.replaceAll(' ', '')]))].map(
      (form) =>
        sql`${searched} like replace(replace(${containsPattern(form)}, ' ', '_'), 'canceled', 'cancel%ed')`,
    ),
    sql` or `,
  )})`;

/** A trigram index cannot search for less than three consecutive letters or digits. */
const hasTrigram = (search: string) => /[\p{L}\p{N}]{3}/u.test(search);

/** Dates include the whole day; times are exact. */
function until(end: string): Condition {
  const at = Date.parse(end);
  return end.includes('T') ? sql`timestamp <= ${clamped(at)}` : sql`timestamp < ${clamped(at + dayMs)}`;
}

/** Limits times to the years 1970 to 9999, in which all entries lie. */
const clamped = (at: number) => new Date(Math.min(Math.max(at, 0), latest));
