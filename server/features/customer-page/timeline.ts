import { sql } from 'kysely';
import type { customerPage as calls, TimelineEntry } from '../../../contract/customer-page.ts';
import { readCursor, writeCursor, type Position } from '../../../contract/audit-cursor.ts';
import type { AuditEntry } from '../../../contract/audit.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { failField, isFailure, type Failure } from '../../failure.ts';
import { findCustomer } from '../customers/index.ts';
import { ownershipsOf } from '../licenses/index.ts';
import { namedRecords } from '../audit/index.ts';

type Row = Position &
  Pick<AuditEntry, 'resource_id' | 'changes_summary'> &
  Pick<TimelineEntry, 'by' | 'event' | 'success'>;

/** A page of what was done to a customer and what is theirs, newest first. */
export async function listTimeline(
  context: Pick<Context, 'db' | 'pool'>,
  customerId: string,
  { limit, after }: RouteInput<typeof calls.timeline>['query'],
): Promise<NonNullable<RouteAnswer<typeof calls.timeline>> | Failure> {
  const { db } = context;
  const customer = await findCustomer(db, customerId, true);
  if (isFailure(customer)) return customer;
  const behind = after === undefined ? undefined : readCursor(after);
  if (behind === null) return failField('INVALID_INPUT', 'after', 'Must be the next of a previous page');
  const rows = await readTimeline(db, customerId, { limit: limit + 1, behind });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const records = await namedRecords(context, page);
  return {
    entries: page.map((row) => ({
      id: row.audit_id,
      ...toLine(row),
      records: records.get(row.audit_id) ?? [],
    })),
    next: last ? writeCursor(last) : null,
  };
}

/** All of it, in batches that hold no connection in between. */
export async function* wholeTimeline(db: Db, customerId: string): AsyncGenerator<Line> {
  const limit = 1000;
  for (let behind: Position | undefined; ;) {
    const rows = await readTimeline(db, customerId, { limit, behind });
    yield* rows.map(toLine);
    behind = rows.at(-1);
    if (rows.length < limit) return;
  }
}

/**
 * Reads the next entries of each record with the index on records, and merges them: a customer has many machines with few
 * entries each. A license that was transferred counts while the customer held it.
 */
async function readTimeline(
  db: Db,
  customerId: string,
  { limit, behind }: { limit: number; behind: Position | undefined },
): Promise<Row[]> {
  const position = behind
    ? sql`and (e.timestamp, e.audit_id) < (${behind.timestamp}, ${behind.audit_id}::uuid)`
    : sql``;
  const { rows } = await sql<Row>`
    with held as materialized (select * from ${ownershipsOf(customerId)} as o),
    records (type, id, since, until) as (
      select 'customer', ${customerId}::text, '-infinity'::timestamptz, 'infinity'::timestamptz
      union all
      select 'tag', tag, '-infinity', 'infinity' from customer_tags where customer_id = ${customerId}
      union all
      select 'license', license_id::text, since, until from held
      union all
      select 'activation', activation_id::text, since, until from held join activations using (license_id))
    select e.audit_id, e.timestamp, e.user_email as by, e.event_type as event, e.changes_summary, e.resource_id, e.success
      from records r cross join lateral (
        select * from audit_entries e
         where e.resource_id = r.id and e.resource_type = r.type
           and e.timestamp >= r.since and e.timestamp <= r.until ${position}
         order by e.timestamp desc, e.audit_id desc limit ${limit}) e
     order by e.timestamp desc, e.audit_id desc limit ${limit}`.execute(db);
  return rows;
}

type Line = Omit<TimelineEntry, 'id' | 'records'>;

const toLine = ({ timestamp, by, event, changes_summary, success }: Row): Line => ({
  at: timestamp.toISOString(),
  by,
  event,
  what: changes_summary,
  success,
});
