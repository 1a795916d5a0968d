import type { Updateable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { counted } from '../../../contract/text.ts';
import {
  customerRefusal,
  type Customer,
  type customers as calls,
  type CustomerInput,
} from '../../../contract/customers.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { mayRead, type Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { countOf } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { editRecord, lockAllowed, unseenRefusal, type Editable } from '../../edit-record.ts';
import { isFailure, noSuch, type Failure } from '../../failure.ts';
import { customerColumns, toCustomer, withLicenses } from './customer-row.ts';
import { present } from '../../invariants.ts';

const notFound = noSuch('customer');

/**
 * One customer, with its licenses for who may read these: they have keys. Soft-deleted customers are found only with
 * `includeDeleted`.
 */
export async function getCustomer(
  db: Db,
  by: Caller,
  id: string,
  includeDeleted: boolean,
): Promise<Customer | Failure> {
  const found = await findCustomer(db, id, includeDeleted);
  if (isFailure(found) || !mayRead(by, 'licenses')) return found;
  const [customer] = await withLicenses(db, [found]);
  return present(customer, 'one customer was passed');
}

/** One customer without its licenses. */
export async function findCustomer(db: Db, id: string, includeDeleted: boolean): Promise<Customer | Failure> {
  const row = await db
    .selectFrom('customers')
    .select(customerColumns)
    .where('customer_id', '=', id)
    .executeTakeFirst();
  return !row || (row.deleted_at && !includeDeleted) ? notFound : toCustomer(row);
}

/** Creates a customer. */
export async function createCustomer(change: Change, input: CustomerInput): Promise<Customer> {
  const row = await change.tx
    .insertInto('customers')
    .values({
      customer_id: uuidv7(),
      ...toColumns(input),
      created_at: change.now,
      updated_at: change.now,
    })
    .returning(customerColumns)
    .executeTakeFirstOrThrow();
  const customer = toCustomer(row);
  await change.audit('customer.created', customer, { after: customer });
  return customer;
}

/**
 * Changes a customer. `seen` is the version that the user loaded; if the stored one is newer, an EDIT_CONFLICT lists
 * the differences.
 */
export const updateCustomer = (
  change: Change,
  id: string,
  input: CustomerInput,
  seen: string | undefined,
): Promise<Customer | Failure> =>
  editRecord(change, editable, id, {
    event: 'customer.updated',
    refuse: customerRefusal.update,
    sent: input,
    seen,
    columns: toColumns(input),
  });

/**
 * Moves a customer to the recycle bin and makes it inactive, so that its machines are refused. `seen`: the version that the
 * caller was shown.
 */
export const softDeleteCustomer = (change: Change, id: string, seen?: string): Promise<Customer | Failure> =>
  editRecord(change, editable, id, {
    event: 'customer.soft_deleted',
    refuse: (before) => customerRefusal.softDelete(before) ?? unseenRefusal('customer', before, seen),
    columns: { status: 'inactive', deleted_at: change.now },
  });

/** Restores a customer from the recycle bin and makes it active. `seen`: the version that the caller was shown. */
export const restoreCustomer = (change: Change, id: string, seen?: string): Promise<Customer | Failure> =>
  editRecord(change, editable, id, {
    event: 'customer.restored',
    refuse: (before) => customerRefusal.restore(before) ?? unseenRefusal('customer', before, seen),
    columns: { status: 'active', deleted_at: null },
  });

/** Whether a customer can be permanently deleted, with a sentence about what is deleted with it, or why not. */
export async function checkDeletable(
  db: Db,
  id: string,
): Promise<RouteAnswer<typeof calls.checkDeletable> | Failure> {
  const customer = await findCustomer(db, id, true);
  if (isFailure(customer)) return customer;
  const { updatedAt } = customer;
  const reason = customerRefusal.hardDelete(customer);
  if (reason) return { canDelete: false, message: reason, updatedAt };
  const activations = await countOf(
    db
      .selectFrom('activations as a')
      .innerJoin('licenses as l', 'l.license_id', 'a.license_id')
      .where('l.customer_id', '=', id),
  );
  return {
    canDelete: true,
    message: `${counted(customer.licenseCount, 'license')} and ${counted(activations, 'activation')} of "${customer.name}" will be deleted with it.`,
    updatedAt,
  };
}

/**
 * Permanently deletes a soft-deleted customer with its licenses and activations; audit entries are kept. `seen`: the
 * version whose licenses the caller was told.
 */
export async function hardDeleteCustomer(
  change: Change,
  id: string,
  seen?: string,
): Promise<undefined | Failure> {
  const { tx } = change;
  const found = await lockAllowed(
    change,
    editable,
    id,
    (before) => customerRefusal.hardDelete(before) ?? unseenRefusal('customer', before, seen),
  );
  if (isFailure(found)) return found;
  const [before] = await withLicenses(tx, [found]);
  await tx.deleteFrom('customers').where('customer_id', '=', id).execute();
  await change.announce('licenses');
  await change.audit('customer.deleted', found, {
    what: `permanently deleted with ${counted(found.licenseCount, 'license')}`,
    before,
  });
  return undefined;
}

const editable: Editable<Customer, Updateable<Tables['customers']>> = {
  name: 'customer',
  async lock({ tx }, id) {
    const row = await tx
      .selectFrom('customers')
      .select(customerColumns)
      .where('customer_id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    return row ? toCustomer(row) : notFound;
  },
  async write(change, before, columns) {
    const row = await change.tx
      .updateTable('customers')
      .set(columns)
      .where('customer_id', '=', before.customerId)
      .returning(customerColumns)
      .executeTakeFirstOrThrow();
    const after = toCustomer(row);
    const isRenamed = after.name !== before.name;
    // The license search includes the customer's name; the licenses of an inactive customer need nobody's attention.
    if (isRenamed || after.status !== before.status || after.deletedAt !== before.deletedAt)
      await change.announce('licenses');
    // Explanations name the customer of a policy.
    if (isRenamed) await change.announce('policies');
    return after;
  },
};

function toColumns(input: CustomerInput) {
  return {
    name: input.name,
    contact_name: input.contactName,
    email: input.email,
    phone: input.phone,
    country: input.country,
  };
}
