import { v7 as uuidv7 } from 'uuid';
import { customerRefusal, type Customer, type CustomerInput } from '../../../contract/customers.ts';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { announce } from '../../db/signals.ts';
import { nextVersion } from '../../db/sql.ts';
import { editConflict } from '../../edit-conflict.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { changeSummary, writeAudit } from '../audit/audit.ts';
import { customerColumns, toCustomer, withLicenses } from './customer-row.ts';

export { exportCustomers, listCustomers, listTrash } from './customer-list.ts';

const notFound = fail('NOT_FOUND', 'There is no such customer.');

/** One customer with its licenses. A soft-deleted one is found only when asked for. */
export async function getCustomer(db: Db, id: string, includeDeleted: boolean): Promise<Customer | Failure> {
  const row = await db
    .selectFrom('customers')
    .select(customerColumns)
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
    .returning(customerColumns)
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
  const reason = customerRefusal.update(before);
  if (reason) return fail('WRONG_STATE', `${reason}.`);
  const conflict = editConflict('customer', before, input, seen);
  if (conflict) return conflict;
  const after = await write(tx, by, before, toColumns(input));
  // the license search looks through the customer's name
  if (after.name !== before.name) await announce(tx, 'licenses');
  await audit(tx, by, 'customer.updated', after, { summary: changeSummary(before, after), before, after });
  return after;
}

/** Moves a customer to the trash: it becomes inactive, so that its machines are refused. */
export function softDeleteCustomer(tx: Tx, by: Caller, id: string): Promise<Customer | Failure> {
  return move(tx, by, id, {
    event: 'customer.soft_deleted',
    refuse: customerRefusal.softDelete,
    set: { status: 'inactive', deleted_at: by.now },
    summary: (name) => `Moved ${name} to the trash`,
  });
}

/** Takes a customer out of the trash, active again. */
export function restoreCustomer(tx: Tx, by: Caller, id: string): Promise<Customer | Failure> {
  return move(tx, by, id, {
    event: 'customer.restored',
    refuse: customerRefusal.restore,
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
  const reason = customerRefusal.hardDelete(customer);
  if (reason) return { canDelete: false, message: reason };
  const { activations } = await db
    .selectFrom('activations as a')
    .innerJoin('licenses as l', 'l.license_id', 'a.license_id')
    .where('l.customer_id', '=', id)
    .select((eb) => eb.fn.countAll<number>().as('activations'))
    .executeTakeFirstOrThrow();
  return {
    canDelete: true,
    message: `${counted(customer.licenseCount, 'license')} and ${counted(activations, 'activation')} of "${customer.name}" will be deleted with it.`,
  };
}

const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Removes a soft-deleted customer for good; its licenses and activations go with it, its audit entries stay. */
export async function hardDeleteCustomer(tx: Tx, by: Caller, id: string): Promise<undefined | Failure> {
  const found = await lock(tx, id);
  if (isFailure(found)) return found;
  const reason = customerRefusal.hardDelete(found);
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

async function lock(tx: Tx, id: string): Promise<Customer | Failure> {
  const row = await tx
    .selectFrom('customers')
    .select(customerColumns)
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
    .returning(customerColumns)
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

function toColumns(input: CustomerInput) {
  return {
    name: input.name,
    contact_name: input.contactName,
    email: input.email,
    phone: input.phone,
    country: input.country,
  };
}
