import { sql } from 'kysely';
import { utcDay } from '../../../contract/durations.ts';
import { countries, countryName } from '../../../contract/countries.ts';
import type { customers as calls } from '../../../contract/customers.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { mayRead, type Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import { csvStream, inPieces } from '../../csv.ts';
import type { Db } from '../../db/client.ts';
import { countOf, contains, orderBy, anyOf } from '../../db/sql.ts';
import type { DownloadFile } from '../../http/call.ts';
import { customerColumns, toCustomer, withLicenses } from './customer-row.ts';

type ListQuery = RouteInput<typeof calls.list>['query'];
type Filter = Omit<ListQuery, 'limit' | 'offset' | 'sort'> & { trash?: boolean };

/** Customers under a filter, one page or (without `limit`) all, with the number of customers in the recycle bin. */
export async function listCustomers(
  db: Db,
  by: Caller,
  query: ListQuery,
): Promise<RouteAnswer<typeof calls.list>> {
  const [page, deleted] = await Promise.all([
    pageOf(db, by, query, query),
    countOf(db.selectFrom('customers').where('deleted_at', 'is not', null)),
  ]);
  return { data: page.data, meta: { ...page.meta, deleted } };
}

/** Soft-deleted customers, by name. */
export function listTrash(db: Db, by: Caller, query: RouteInput<typeof calls.trash>['query']) {
  return pageOf(
    db,
    by,
    { search: query.search, includeDeleted: true, trash: true },
    { ...query, sort: 'name' },
  );
}

async function pageOf(
  db: Db,
  by: Caller,
  filter: Filter,
  page: Pick<ListQuery, 'limit' | 'offset' | 'sort'>,
) {
  const whole = page.limit === undefined;
  const rows = await sorted(filtered(db, filter), page.sort)
    .select(customerColumns)
    .$call((q) => (page.limit === undefined ? q : q.limit(page.limit)))
    .offset(page.offset ?? 0)
    .execute();
  const total = await countOf(filtered(db, filter));
  const data = rows.map((row) => toCustomer(row));
  return {
    data: whole && mayRead(by, 'licenses') ? await withLicenses(db, data) : data,
    meta: { total, limit: page.limit ?? null, offset: page.offset ?? 0 },
  };
}

function filtered(db: Db, filter: Filter) {
  let query = db.selectFrom('customers');
  if (!filter.includeDeleted) query = query.where('deleted_at', 'is', null);
  if (filter.trash) query = query.where('deleted_at', 'is not', null);
  if (filter.status) query = query.where('status', '=', filter.status);
  if (filter.country) query = query.where('country', '=', filter.country);
  if (filter.search) {
    query = query.where(contains(sql`name || E'\n' || coalesce(email, '')`, filter.search));
  }
  return query;
}

const countryCodes = countries.map(({ code }) => code);
/** The order of the countries' names. A join: looking each customer up in the array took 20 times as long. */
const byCountry = sql<{
  code: string;
  place: number;
}>`unnest(${countryCodes}::bpchar[]) with ordinality`.as<'by'>(sql`by_country(code, place)`);

function sorted(query: ReturnType<typeof filtered>, sort: ListQuery['sort'] = 'name') {
  const column = sort.replace('-', '') as 'name' | 'email' | 'country' | 'createdAt';
  const by = {
    name: sql`sort_key(name)`,
    email: sql`lower(email)`,
    country: sql`place`,
    createdAt: sql`created_at`,
  }[column];
  return query
    .$if(column === 'country', (q) => q.leftJoin(byCountry, (on) => on.on(sql`code`, '=', sql`country`)))
    .orderBy(orderBy(by, sort.startsWith('-')))
    .$if(column === 'country', (q) => q.orderBy(sql`sort_key(name)`))
    .orderBy('customer_id');
}

/** Exports the filtered list as CSV, and records who exported it. */
export async function exportCustomers(
  parts: ChangeParts,
  by: Caller,
  query: RouteInput<typeof calls.exportCsv>['query'],
): Promise<DownloadFile> {
  const { db } = parts;
  const found = await sorted(filtered(db, query), query.sort).select('customer_id').execute();
  const pieces = inPieces(
    found.map((c) => c.customer_id),
    (ids) =>
      db.selectFrom('customers').select(customerColumns).where('customer_id', '=', anyOf(ids)).execute(),
    (c) => c.customer_id,
  );
  const what = `exported ${found.length} as CSV`;
  await runChange(parts, by, (change) =>
    change.audit('customer.exported', null, { what, after: { filter: query } }),
  );
  return {
    fileName: `customers-${utcDay(by.now)}.csv`,
    stream: csvStream(pieces, {
      Name: (c) => c.name,
      'Contact Name': (c) => c.contact_name,
      Email: (c) => c.email,
      Phone: (c) => c.phone,
      Country: (c) => countryName(c.country),
      Status: (c) => c.status,
      Licenses: (c) => c.license_count,
      Created: (c) => c.created_at.toISOString(),
      Id: (c) => c.customer_id,
    }),
  };
}
