import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { AuditEntry } from '../../../contract/audit.ts';
import type { Position } from '../../../contract/audit-cursor.ts';
import { codeOf, type Db } from '../../db/client.ts';
import { readOnly } from '../../db/read-only.ts';
import type { Split } from './audit-filter.ts';
import { onlyRow } from '../../invariants.ts';

export type ListRow = Omit<AuditEntry, 'timestamp' | 'records'> & { timestamp: Date };
export type Page = { after: Position | undefined; limit: number; offset: number };
export type FoundPage = { rows: ListRow[]; searchedTo?: Position | undefined };

const order = sql`order by timestamp desc, audit_id desc`;
const columns = sql`audit_id, timestamp, user_email, user_role, event_type, resource_type, resource_id,
  changes_summary, api_endpoint, ip_address, success, error_message`;

/** How many entries a query may scan at first, and at most. */
const nearby = 20_000;
const farthest = 100_000;
const lookupMs = 1000;
const countMs = 40;

/**
 * Finds one page of a filter, even if matches are rare among millions of entries: scans the nearest entries first, then
 * tries a longer scan and the search index, the more promising one first. `searchedTo` is set if older entries were not
 * searched.
 */
export async function findPage(db: Db, filter: Split, page: Page): Promise<FoundPage> {
  if (filter.rest.length === 0) return { rows: await direct(db, filter, page) };
  const near = await within(db, filter, page, nearby);
  const isWhole = (found: FoundPage) => found.rows.length === page.limit || !found.searchedTo;
  if (isWhole(near)) return near;
  if (!filter.isIndexed) return within(db, filter, page, farthest);
  if (!(await isCommon(db, filter)))
    return (await byIndex(db, filter, page)) ?? within(db, filter, page, farthest);
  const far = await within(db, filter, page, farthest);
  return isWhole(far) ? far : ((await byIndex(db, filter, page)) ?? far);
}

/** Common matches are found sooner by a scan, since the search index would collect all of them first. */
async function isCommon(db: Db, { narrow, rest }: Split): Promise<boolean> {
  const plan = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    explain (format json) select from audit_entries ${where(narrow, rest)}`.execute(db);
  return onlyRow(plan)['QUERY PLAN'][0].Plan['Plan Rows'] > nearby;
}

/** Finds the page with the index alone, at any depth; reads only the rows of the page. */
async function direct(db: Db, { narrow }: Split, { after, limit, offset }: Page): Promise<ListRow[]> {
  const { rows } = await sql<ListRow>`select ${columns} from audit_entries where audit_id in (
      select audit_id from audit_entries ${where(narrow, behind(after))} ${order} limit ${limit} offset ${offset}
    ) ${order}`.execute(db);
  return rows;
}

/** Scans the next `most` entries of the index, in one snapshot: with entries written in between, it would end sooner. */
export function within(
  db: Db,
  { narrow, rest }: Split,
  { after, limit, offset }: Page,
  most: number,
): Promise<FoundPage> {
  const next = sql`from audit_entries ${where(narrow, behind(after))} ${order}`;
  return readOnly(db, async (tx) => {
    const { rows } = await sql<ListRow>`select ${columns} from (select * ${next} limit ${most}) as e
      ${where(rest)} ${order} limit ${limit} offset ${offset}`.execute(tx);
    if (rows.length === limit) return { rows };
    const { rows: ends } =
      await sql<Position>`select timestamp, audit_id ${next} limit 1 offset ${most - 1}`.execute(tx);
    return { rows, searchedTo: ends[0] };
  });
}

/** Finds rare matches with the search index; undefined on timeout, for example if there are too many candidates. */
function byIndex(db: Db, filter: Split, { after, limit, offset }: Page): Promise<FoundPage | undefined> {
  return inTime(db, lookupMs, async (tx) => {
    const { rows } = await sql<ListRow>`with found as materialized (
        select audit_id, timestamp from audit_entries ${where(filter.narrow, filter.rest, behind(after))}
      ) select ${columns} from audit_entries where audit_id in (
        select audit_id from found ${order} limit ${limit} offset ${offset}
      ) ${order}`.execute(tx);
    return { rows };
  });
}

/** Counts the entries of a filter, up to `most`; undefined on timeout. */
export function countUpTo(db: Db, filter: Split, most: number): Promise<number | undefined> {
  const count = async (tx: Db) => {
    const counted = await sql<{ n: number }>`select count(*) as n from (
        select 1 from audit_entries ${where(filter.narrow, filter.rest)} limit ${most}
      ) as counted`.execute(tx);
    return onlyRow(counted).n;
  };
  // An index covers the whole filter.
  if (filter.rest.length === 0) return count(db);
  return inTime(db, countMs, async (tx) => {
    // Without a search term, the whole search index would be read, and a bitmap scan ignores the timeout.
    if (!filter.isIndexed) await sql`select set_config('enable_bitmapscan', 'off', true)`.execute(tx);
    return count(tx);
  });
}

/** The result of `work`, or undefined on timeout. */
async function inTime<T>(db: Db, ms: number, work: (tx: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await readOnly(db, async (tx) => {
      await sql`select set_config('statement_timeout', ${String(ms)}, true)`.execute(tx);
      return work(tx);
    });
  } catch (error) {
    if (codeOf(error) === '57014') return undefined;
    throw error;
  }
}

type Condition = RawBuilder<SqlBool>;

const behind = (after: Position | undefined): Condition[] =>
  after ? [sql`(timestamp, audit_id) < (${after.timestamp}, ${after.audit_id}::uuid)`] : [];

const where = (...conditions: Condition[][]) => {
  const all = conditions.flat();
  return all.length > 0 ? sql`where ${sql.join(all, sql` and `)}` : sql``;
};
