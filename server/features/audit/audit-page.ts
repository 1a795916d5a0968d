import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { AuditEntry } from '../../../contract/audit.ts';
import type { Db } from '../../db/client.ts';
import { readOnly } from '../../db/read-only.ts';
import type { Split } from './audit-filter.ts';
import { onlyRow } from '../../invariants.ts';

/** A place in the order of the list: newest first, ties by id. */
export type Position = { timestamp: Date; audit_id: string };
export type ListRow = Omit<AuditEntry, 'timestamp'> & { timestamp: Date };
export type Page = { after: Position | undefined; limit: number; offset: number };
export type FoundPage = { rows: ListRow[]; searchedTo?: Position | undefined };

const order = sql`order by timestamp desc, audit_id desc`;
const columns = sql`audit_id, timestamp, user_email, user_role, event_type, resource_type, resource_id,
  changes_summary, api_endpoint, ip_address, success, error_message`;

/** Entries that one look at the list may cost at first, and at most. */
const nearby = 20_000;
const farthest = 100_000;
const lookupMs = 1000;
const countMs = 150;

/**
 * One page of a filter, however rare its entries are among millions: first among the nearest, then among more of them
 * and by the index of the search, in the order that promises more. `searchedTo` says that entries behind it were not
 * looked at.
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

/** What many entries hold (a busy person, say) is met soon by going on; the index would collect all of it first. */
async function isCommon(db: Db, { narrow, rest }: Split): Promise<boolean> {
  const plan = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    explain (format json) select from audit_entries ${where(narrow, rest)}`.execute(db);
  return onlyRow(plan)['QUERY PLAN'][0].Plan['Plan Rows'] > nearby;
}

/** The page is found in the index alone, however deep; only its own rows are read. */
async function direct(db: Db, { narrow }: Split, { after, limit, offset }: Page): Promise<ListRow[]> {
  const { rows } = await sql<ListRow>`select ${columns} from audit_entries where audit_id in (
      select audit_id from audit_entries ${where(narrow, behind(after))} ${order} limit ${limit} offset ${offset}
    ) ${order}`.execute(db);
  return rows;
}

/** Looks through the next `most` entries of the index. */
export async function within(
  db: Db,
  { narrow, rest }: Split,
  { after, limit, offset }: Page,
  most: number,
): Promise<FoundPage> {
  const next = sql`from audit_entries ${where(narrow, behind(after))} ${order}`;
  const { rows } = await sql<ListRow>`select ${columns} from (select * ${next} limit ${most}) as e
    ${where(rest)} ${order} limit ${limit} offset ${offset}`.execute(db);
  if (rows.length === limit) return { rows };
  const { rows: ends } =
    await sql<Position>`select timestamp, audit_id ${next} limit 1 offset ${most - 1}`.execute(db);
  return { rows, searchedTo: ends[0] };
}

/** Finds all of the few entries by their index; undefined when they are too many for that, or too like the others. */
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

/** How many entries a filter has, up to `most`; undefined when that takes too long to say. */
export function countUpTo(db: Db, filter: Split, most: number): Promise<number | undefined> {
  const count = async (tx: Db) => {
    const counted = await sql<{ n: number }>`select count(*) as n from (
        select 1 from audit_entries ${where(filter.narrow, filter.rest)} limit ${most}
      ) as counted`.execute(tx);
    return onlyRow(counted).n;
  };
  // An index holds exactly what is to be counted.
  if (filter.rest.length === 0) return count(db);
  return inTime(db, countMs, async (tx) => {
    // Without anything to look up, the index of the search would be read whole, and hears no time limit meanwhile.
    if (!filter.isIndexed) await sql`select set_config('enable_bitmapscan', 'off', true)`.execute(tx);
    return count(tx);
  });
}

/** What `work` finds, or undefined when the database has not found it by then. */
async function inTime<T>(db: Db, ms: number, work: (tx: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await readOnly(db, async (tx) => {
      await sql`select set_config('statement_timeout', ${String(ms)}, true)`.execute(tx);
      return work(tx);
    });
  } catch (error) {
    if ((error as { code?: string }).code === '57014') return undefined;
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
