import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import {
  customerCan,
  type Customer,
  type CustomerInput,
  type customers as calls,
} from '../../../contract/customers.ts';
import { countryName } from '../../../contract/countries.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import { csvStream } from '../../csv.ts';
import type { Db, Tx } from '../../db/client.ts';
import { announce } from '../../db/signals.ts';
import { containsPattern, nextVersion, orderBy } from '../../db/sql.ts';
import { editConflict } from '../../edit-conflict.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import type { CsvFile } from '../../http/call.ts';
import { changeSummary, writeAudit } from '../audit/audit.ts';

type ListQuery = RouteInput<typeof calls.list>['query'];
type Filter = Omit<ListQuery, 'limit' | 'offset' | 'sort'> & { trash?: boolean };

const notFound = fail('NOT_FOUND', 'There is no such customer.');

const columns = [
  'customer_id',
  'name',
  'contact_name',
  'email',
  'phone',
  'country',
  'type',
  'status',
  'inherit_licenses',
  'license_count',
  'deleted_at',
  'created_at',
  'updated_at',
] as const;

/** Customers under a filter, a page of them or (without `limit`) all, with the number in the trash beside. */
export async function listCustomers(db: Db, query: ListQuery): Promise<RouteAnswer<typeof calls.list>> {
  const [page, { deleted }] = await Promise.all([
    pageOf(db, query, query),
    db
      .selectFrom('customers')
      .select((eb) => eb.fn.countAll<number>().as('deleted'))
      .where('deleted_at', 'is not', null)
      .executeTakeFirstOrThrow(),
  ]);
  return { data: page.data, meta: { ...page.meta, deleted } };
}

/** Soft-deleted customers, the latest first to go at the top. */
export function listTrash(db: Db, query: RouteInput<typeof calls.trash>['query']) {
  return pageOf(db, { search: query.search, includeDeleted: true, trash: true }, { ...query, sort: 'name' });
}

async function pageOf(db: Db, filter: Filter, page: Pick<ListQuery, 'limit' | 'offset' | 'sort'>) {
  const whole = page.limit === undefined;
  const rows = await sorted(filtered(db, filter), page.sort)
    .select(columns)
    .$if(!whole, (q) => q.limit(page.limit!))
    .offset(page.offset ?? 0)
    .execute();
  const { total } = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const data = rows.map((row) => toCustomer(row));
  return {
    data: whole ? await withLicenses(db, data) : data,
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
    query = query.where(
      sql<boolean>`lower(name || E'\n' || coalesce(email, '')) like ${containsPattern(filter.search)}`,
    );
  }
  return query;
}

function sorted(query: ReturnType<typeof filtered>, sort: ListQuery['sort'] = 'name') {
  const by = {
    name: sql`lower(name)`,
    email: sql`lower(email)`,
    country: sql`country`,
    createdAt: sql`created_at`,
  }[sort.replace('-', '') as 'name' | 'email' | 'country' | 'createdAt'];
  return query.orderBy(orderBy(by, sort.startsWith('-'))).orderBy('customer_id');
}

/** One customer with its licenses. A soft-deleted one is found only when asked for. */
export async function getCustomer(db: Db, id: string, includeDeleted: boolean): Promise<Customer | Failure> {
  const row = await db
    .selectFrom('customers')
    .select(columns)
    .where('customer_id', '=', id)
    .executeTakeFirst();
  if (!row || (row.deleted_at && !includeDeleted)) return notFound;
  const [customer] = await withLicenses(db, [toCustomer(row)]);
  return customer!;
}

/** Creates a customer. */
export async function createCustomer(tx: Tx, by: Caller, input: CustomerInput): Promise<Customer> {
  const row = await tx
    .insertInto('customers')
    .values({
      customer_id: uuidv7(),
      ...toColumns(input),
      created_at: by.now,
      updated_at: by.now,
      deleted_at: null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  const customer = toCustomer(row);
  await audit(tx, by, 'customer.created', customer, { summary: `Created ${customer.name}`, after: customer });
  return customer;
}

/**
 * Changes a customer. `seen` is the version that the person began from; a newer stored one is an EDIT_CONFLICT
 * that says what differs.
 */
export async function updateCustomer(
  tx: Tx,
  by: Caller,
  id: string,
  input: CustomerInput,
  seen: string | undefined,
): Promise<Customer | Failure> {
  const before = await lock(tx, id);
  if (isFailure(before)) return before;
  const reason = customerCan.update(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  const conflict = editConflict('customer', before, input, seen);
  if (conflict) return conflict;
  const after = await write(tx, by, before, toColumns(input));
  await audit(tx, by, 'customer.updated', after, { summary: changeSummary(before, after), before, after });
  return after;
}

/** Moves a customer to the trash: it becomes inactive, so that its machines are refused. */
export function softDeleteCustomer(tx: Tx, by: Caller, id: string): Promise<Customer | Failure> {
  return move(tx, by, id, {
    event: 'customer.soft_deleted',
    refuse: customerCan.softDelete,
    set: { status: 'inactive', deleted_at: by.now },
    summary: (name) => `Moved ${name} to the trash`,
  });
}

/** Takes a customer out of the trash, active again. */
export function restoreCustomer(tx: Tx, by: Caller, id: string): Promise<Customer | Failure> {
  return move(tx, by, id, {
    event: 'customer.restored',
    refuse: customerCan.restore,
    set: { status: 'active', deleted_at: null },
    summary: (name) => `Restored ${name}`,
  });
}

type Move = {
  event: string;
  refuse: (customer: Customer) => string | null;
  set: { status: Customer['status']; deleted_at: Date | null };
  summary: (name: string) => string;
};

async function move(tx: Tx, by: Caller, id: string, { event, refuse, set, summary }: Move) {
  const before = await lock(tx, id);
  if (isFailure(before)) return before;
  const reason = refuse(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  const after = await write(tx, by, before, set);
  await audit(tx, by, event, after, { summary: summary(after.name), before, after });
  return after;
}

/** Whether a customer can be removed for good, with a sentence that says what goes with it or why not. */
export async function checkDeletable(
  db: Db,
  id: string,
): Promise<{ canDelete: boolean; message: string } | Failure> {
  const customer = await getCustomer(db, id, true);
  if (isFailure(customer)) return customer;
  const reason = customerCan.hardDelete(customer);
  if (reason) return { canDelete: false, message: reason };
  const { machines } = await db
    .selectFrom('licenses')
    .where('customer_id', '=', id)
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('current_activations'), sql<number>`0`).as('machines'))
    .executeTakeFirstOrThrow();
  return {
    canDelete: true,
    message: `${counted(customer.licenseCount, 'license')} and ${counted(machines, 'active machine')} of "${customer.name}" will be deleted with it.`,
  };
}

const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Removes a soft-deleted customer for good; its licenses and activations go with it, its audit entries stay. */
export async function hardDeleteCustomer(tx: Tx, by: Caller, id: string): Promise<undefined | Failure> {
  const found = await lock(tx, id);
  if (isFailure(found)) return found;
  const reason = customerCan.hardDelete(found);
  if (reason) return fail('WRONG_STATE', reason);
  const [before] = await withLicenses(tx, [found]);
  await tx.deleteFrom('customers').where('customer_id', '=', id).execute();
  await announce(tx, 'licenses');
  await audit(tx, by, 'customer.deleted', found, {
    summary: `Permanently deleted ${found.name} with ${counted(found.licenseCount, 'license')}`,
    before: before!,
  });
  return undefined;
}

/** The filtered list as a CSV file. */
export function exportCustomers(
  db: Db,
  by: Caller,
  query: RouteInput<typeof calls.exportCsv>['query'],
): CsvFile {
  const rows = sorted(filtered(db, query), query.sort).select(columns).stream(500);
  return {
    fileName: `customers-${by.now.toISOString().slice(0, 10)}.csv`,
    stream: csvStream(rows, {
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

async function lock(tx: Tx, id: string): Promise<Customer | Failure> {
  const row = await tx
    .selectFrom('customers')
    .select(columns)
    .where('customer_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row ? toCustomer(row) : notFound;
}

async function write(
  tx: Tx,
  by: Caller,
  before: Customer,
  set: Partial<ReturnType<typeof toColumns>> | Move['set'],
): Promise<Customer> {
  const row = await tx
    .updateTable('customers')
    .set({ ...set, updated_at: nextVersion(new Date(before.updatedAt), by.now) })
    .where('customer_id', '=', before.customerId)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toCustomer(row);
}

function audit(
  tx: Tx,
  by: Caller,
  event: string,
  { customerId }: Customer,
  what: { summary: string; before?: object; after?: object },
) {
  return writeAudit(tx, by, { event, resourceType: 'customer', resourceId: customerId, ...what });
}

async function withLicenses(db: Db | Tx, customers: Customer[]): Promise<Customer[]> {
  if (customers.length === 0) return [];
  const rows = await db
    .selectFrom('licenses')
    .select(['customer_id', 'license_id', 'license_key', 'module_ids'])
    .where('customer_id', '=', sql<string>`any(${customers.map((c) => c.customerId)}::uuid[])`)
    .orderBy('created_at')
    .orderBy('license_id')
    .execute();
  const byCustomer = new Map<string, NonNullable<Customer['licenses']>>();
  for (const row of rows) {
    const held = byCustomer.get(row.customer_id) ?? [];
    held.push({ licenseId: row.license_id, licenseKey: row.license_key, moduleIds: row.module_ids });
    byCustomer.set(row.customer_id, held);
  }
  return customers.map((c) => ({ ...c, licenses: byCustomer.get(c.customerId) ?? [] }));
}

function toColumns(input: CustomerInput) {
  return {
    name: input.name,
    contact_name: input.contactName,
    email: input.email,
    phone: input.phone,
    country: input.country,
  };
}

type Row = {
  customer_id: string;
  name: string;
  contact_name: string | null;
  email: string | null;
  phone: string | null;
  country: string;
  type: string;
  status: Customer['status'];
  inherit_licenses: boolean;
  license_count: number;
  deleted_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

function toCustomer(row: Row): Customer {
  return {
    customerId: row.customer_id,
    name: row.name,
    contactName: row.contact_name,
    email: row.email,
    phone: row.phone,
    country: row.country,
    type: row.type,
    status: row.status,
    inheritLicenses: row.inherit_licenses,
    deletedAt: row.deleted_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    licenseCount: row.license_count,
  };
}
