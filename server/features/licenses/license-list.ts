import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { daysFrom, utcDay } from '../../../contract/durations.ts';
import { licenseTab } from '../../../contract/license-state.ts';
import type {
  License,
  LicenseListMeta,
  LicenseSort,
  LicenseTab,
  SeatFilter,
  licenses as calls,
} from '../../../contract/licenses.ts';
import { licenseTabs } from '../../../contract/list-words.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { csvStream, inPieces } from '../../csv.ts';
import { createCache } from '../../db/cache.ts';
import { isoTimes, type Db } from '../../db/client.ts';
import { runPrepared } from '../../db/prepared.ts';
import { anyOf, containsFolded, onMachinesFoundBy } from '../../db/sql.ts';
import type { DownloadFile } from '../../http/call.ts';
import { attentionConditions, endsBetween, isOfActiveCustomer } from './license-attention.ts';
import { licenseKeyFragment } from './license-key.ts';
import { selectLicenses, toLicense, type LicenseRow, type LicenseTextRow } from './license-row.ts';
import { onlyRow } from '../../invariants.ts';

type ListQuery = RouteInput<typeof calls.list>['query'];
type Filter = Omit<ListQuery, 'limit' | 'offset' | 'sort'>;
/** The licenses that parts of a filter found before its query. */
type Known = { machines: FewIds; unseen?: FewIds };
type Found = Filter & Known;
type Counts = LicenseListMeta['counts'];

/** Counts are cached until any license changes, and at most a second, because licenses also expire. */
export function createLicenseCounts({ db, signals }: Pick<Context, 'db' | 'signals'>) {
  const kept = { max: 500, ttlMs: 1000 };
  const tabs = createCache<Counts>(signals, 'licenses', kept);
  const groups = createCache<LicenseListMeta['groups']>(signals, 'licenses', kept);
  return {
    tabs: (filter: Omit<Filter, 'tab'>, now: Date, known: Known) =>
      tabs(JSON.stringify(filter), () => countTabs(db, { ...filter, ...known }, now)),
    groups: (filter: Filter, customerIds: string[], now: Date, known: Known) =>
      groups(JSON.stringify([filter, customerIds]), () =>
        countGroups(db, now, { ...filter, ...known }, customerIds),
      ),
  };
}
type LicenseCounts = ReturnType<typeof createLicenseCounts>;

/**
 * A page of licenses, or all of them without `limit`, with the counts of the tabs and, for each customer on the page,
 * the number of its licenses in the whole list.
 */
export async function listLicenses(
  { db, pool }: Pick<Context, 'db' | 'pool'>,
  count: LicenseCounts,
  now: Date,
  { limit, offset = 0, sort = 'customer', ...filter }: ListQuery,
): Promise<RouteAnswer<typeof calls.list>> {
  const { tab, ...rest } = filter;
  const known: Known = { machines: await findMachines(db, filter.search) };
  if (filter.unseenForDays !== undefined)
    known.unseen = await findUnseen(db, daysFrom(now, -filter.unseenForDays));
  const counting = count.tabs(rest, now, known);
  const areFew = filter.search !== undefined && totalOf(await counting, tab) <= few;
  const [rows, counts] = await Promise.all([
    page({ db, pool }, now, { ...filter, ...known }, { limit, offset, sort, areFew }),
    counting,
  ]);
  const data = rows.map(toLicense);
  const grouped = sort === 'customer' || sort === '-customer';
  const groups = grouped
    ? await count.groups(filter, [...new Set(data.map((l) => l.customerId))], now, known)
    : [];
  return { data, meta: { total: totalOf(counts, tab), limit: limit ?? null, offset, counts, groups } };
}

const totalOf = (counts: Counts, tab: LicenseTab | undefined): number =>
  tab ? counts[tab] : counts.active + counts.revoked + counts.expired;

/** The query for all licenses that match the filter, and have one of the ids if there are any, in order. */
export async function matchingLicenses(
  db: Db,
  now: Date,
  { ids, ...filter }: Filter & { ids?: string[] | undefined },
  sort: LicenseSort = 'customer',
) {
  const machines = await findMachines(db, filter.search);
  const found = selectLicenses(db)
    .where(matches({ ...filter, machines }, now))
    .orderBy(inOrder(sort));
  return { query: ids ? found.where('l.license_id', '=', anyOf(ids)) : found };
}

/** The columns of licenses in a CSV file. */
export const licenseCsvColumns = (now: Date): Record<string, (license: License) => unknown> => ({
  'License Key': (l) => l.licenseKey,
  Customer: (l) => l.customer?.name,
  Type: (l) => l.type,
  Status: (l) => licenseTab(l, now),
  Activations: (l) => l.currentActivations,
  'Max Activations': (l) => l.maxActivations,
  Modules: (l) => l.moduleIds.map(moduleLabel).join(', '),
  'Valid From': (l) => l.validFrom,
  'Valid Until': (l) => l.validUntil,
  Id: (l) => l.licenseId,
});

/** The filtered list as a CSV file, and an audit entry that names the caller, since it contains keys. */
export async function exportLicenses(
  parts: ChangeParts,
  by: Caller,
  { sort, ...filter }: RouteInput<typeof calls.exportCsv>['query'],
): Promise<DownloadFile> {
  const { db } = parts;
  const matching = await matchingLicenses(db, by.now, filter, sort);
  const found = await matching.query.clearSelect().select('l.license_id').execute();
  const pieces = inPieces(
    found.map((l) => l.license_id),
    async (ids) => (await selectLicenses(db).where('l.license_id', '=', anyOf(ids)).execute()).map(toLicense),
    (l) => l.licenseId,
  );
  const what = `exported ${found.length} as CSV`;
  await runChange(parts, by, (change) => change.audit('license.exported', null, { what, after: { filter } }));
  return {
    fileName: `licenses-${utcDay(by.now)}.csv`,
    stream: csvStream(pieces, licenseCsvColumns(by.now)),
  };
}

type Page = { limit: number | undefined; offset: number; sort: LicenseSort; areFew: boolean };

function page(
  { db, pool }: Pick<Context, 'db' | 'pool'>,
  now: Date,
  filter: Found,
  { limit, offset, sort, areFew }: Page,
): Promise<(LicenseRow | LicenseTextRow)[]> {
  const query = selectLicenses(db)
    .where(matches(filter, now))
    .orderBy(inOrder(sort, areFew))
    .$call((q) => (limit === undefined ? q : q.limit(limit)))
    .offset(offset);
  if (filter.search) return query.execute();
  return runPrepared(pool, query.compile() as CompiledQuery<LicenseTextRow>, isoTimes);
}

/**
 * Few matches are found by the search index and then sorted. By default PostgreSQL scans the list in order until a page
 * is full, which is slowest when the matches are adjacent, such as the licenses of one customer.
 */
const few = 10_000;

function inOrder(sort: LicenseSort, areFew = false): RawBuilder<unknown> {
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`;
  const columns = {
    customer: [sql`l.customer_sort`, sql`l.customer_id`, sql`l.created_at`],
    licenseKey: [sql`l.license_key`],
    type: [sql`l.type`],
    validUntil: [sql`l.valid_until`],
    activations: [sql`l.current_activations::float / l.max_activations`, sql`l.current_activations`],
    createdAt: [sql`l.created_at`],
  } satisfies Record<string, [RawBuilder<unknown>, ...RawBuilder<unknown>[]]>;
  const [first, ...others]: [RawBuilder<unknown>, ...RawBuilder<unknown>[]] =
    columns[sort.replace('-', '') as keyof typeof columns];
  // no index has this expression, so PostgreSQL cannot scan one in order
  const leading = areFew ? sql`coalesce(${first}, ${first})` : first;
  const by = [leading, ...others, sql`l.license_id`];
  return sql.join(by.map((column) => sql`${column} ${direction}`));
}

const conditions: Record<LicenseTab, (now: Date) => RawBuilder<boolean>> = {
  active: (now) => sql`(l.status = 'active' and l.valid_until >= ${now})`,
  revoked: () => sql`l.status = 'revoked'`,
  expired: (now) => sql`(l.status = 'active' and l.valid_until < ${now})`,
};

function matches(filter: Found, now: Date): RawBuilder<boolean> {
  const all: RawBuilder<boolean>[] = [sql`true`];
  if (filter.tab) all.push(conditions[filter.tab](now));
  if (filter.customerId) all.push(sql`l.customer_id = ${filter.customerId}`);
  if (filter.type) all.push(sql`l.type = ${filter.type}`);
  if (filter.expiringWithinDays !== undefined) {
    const until = daysFrom(now, filter.expiringWithinDays);
    all.push(endsBetween(now, until), isOfActiveCustomer);
  }
  if (filter.attention) all.push(attentionConditions[filter.attention](now));
  if (filter.seats) all.push(seatConditions[filter.seats]);
  if (filter.unseenForDays !== undefined) all.push(unseenSince(daysFrom(now, -filter.unseenForDays)));
  if (filter.unseen && filter.unseen !== 'many') all.push(sql`l.license_id = ${anyOf(filter.unseen)}`);
  if (filter.search) all.push(finds(filter.search, filter.machines, now));
  return sql`${sql.join(all, sql` and `)}`;
}

const seatConditions: Record<SeatFilter, RawBuilder<boolean>> = {
  full: sql`l.current_activations >= l.max_activations`,
  high: sql`l.current_activations * 4 > l.max_activations * 3`,
  empty: sql`l.current_activations = 0`,
};

/**
 * A license issued after `since` has not had the time to be seen. Only those without a later day are compared with their
 * seats.
 */
const unseenSince = (since: Date): RawBuilder<boolean> => sql`(l.created_at <= ${since}
  and l.license_id in (select license_id from license_days
                        where seen_day <= (${since}::timestamptz at time zone 'UTC')::date)
  and not exists (select from activations a where a.license_id = l.license_id and a.last_checked_at > ${since}))`;

/** The ids of licenses, or that there are more than are worth a list. */
type FewIds = string[] | 'many';
const most = 1000;

const fewOf = (rows: { license_id: string }[]): FewIds =>
  rows.length > most ? 'many' : rows.map((row) => row.license_id);

/** Most filters match few licenses: a page and its counts then begin with these. */
async function findUnseen(db: Db, since: Date): Promise<FewIds> {
  const { rows } = await sql<{ license_id: string }>`
    select l.license_id from licenses l where ${unseenSince(since)} limit ${most + 1}`.execute(db);
  return fewOf(rows);
}

/** The licenses whose machines a search finds; most searches match no machine and then query the licenses alone. */
async function findMachines(db: Db, term: string | undefined): Promise<FewIds> {
  const found = term && onMachinesFoundBy(term);
  if (!found) return [];
  const { rows } = await sql<{ license_id: string }>`
    select license_id from activations where ${found} limit ${most + 1}`.execute(db);
  return fewOf(rows);
}

/**
 * The search of spec part 1, section 2, and by the machines on a license. `search_text` holds all but the status, which
 * depends on the time: a term that is part of a status becomes the condition of that tab. Each way uses an index of its
 * own, unlike an `or` between two tables.
 */
function finds(term: string, machines: FewIds, now: Date): RawBuilder<boolean> {
  const key = licenseKeyFragment(term);
  const texts = [term, ...(key ? [key] : [])].map((text) => containsFolded(sql`l.search_text`, text));
  const wanted = term.toLowerCase();
  const states = licenseTabs.filter((tab) => tab.includes(wanted)).map((tab) => conditions[tab](now));
  const some = machines !== 'many' && machines.length > 0 ? [sql`l.license_id = ${anyOf(machines)}`] : [];
  const onLicense = sql<boolean>`(${sql.join([...texts, ...states, ...some], sql` or `)})`;
  return machines === 'many'
    ? sql`l.license_id in (select license_id from licenses l where ${onLicense}
          union all select license_id from activations where ${onMachinesFoundBy(term) ?? sql`false`})`
    : onLicense;
}

async function countTabs(db: Db, filter: Omit<Found, 'tab'>, now: Date): Promise<Counts> {
  const { rows } = await sql<Counts>`
    select count(*) filter (where ${conditions.active(now)}) as active,
           count(*) filter (where ${conditions.revoked(now)}) as revoked,
           count(*) filter (where ${conditions.expired(now)}) as expired
      from licenses l where ${matches(filter, now)}`.execute(db);
  return onlyRow({ rows });
}

async function countGroups(db: Db, now: Date, filter: Found, customerIds: string[]) {
  if (customerIds.length === 0) return [];
  const { rows } = await sql<{ customerId: string; count: number }>`
    select l.customer_id as "customerId", count(*) as count from licenses l
     where l.customer_id = ${anyOf(customerIds)} and ${matches(filter, now)} group by l.customer_id`.execute(
    db,
  );
  return rows;
}
