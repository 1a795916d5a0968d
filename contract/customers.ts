import { z } from 'zod';
import {
  dateTime,
  id,
  idList,
  isEmail,
  listMeta,
  namedObject,
  line,
  optional,
  requiredLine,
  paging,
  queryFlag,
  search,
  seenVersion,
  shownVersion,
  sortsBy,
  text,
} from './common.ts';
import { isCountryCode } from './countries.ts';
import { licenseImpact } from './licenses.ts';
import { route, staffWith } from './route.ts';

export const customerStatuses = ['active', 'inactive'] as const;
export type CustomerStatus = (typeof customerStatuses)[number];

/** An organization that holds licenses (spec part 1, section 3). `deletedAt` is null unless soft-deleted. */
export const customer = namedObject('Customer', {
  customerId: z.string(),
  name: z.string(),
  contactName: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  country: z.string(),
  type: z.string(),
  status: z.enum(customerStatuses),
  inheritLicenses: z.boolean(),
  deletedAt: dateTime.nullable(),
  createdAt: dateTime,
  updatedAt: dateTime,
  licenseCount: z.number(),
  licenses: z
    .array(z.object({ licenseId: z.string(), licenseKey: z.string(), moduleIds: z.array(z.string()) }))
    .optional()
    .meta({ description: 'Omitted from a paged list, and for users who may not read licenses' }),
});

export type Customer = z.output<typeof customer>;

const fields = {
  name: requiredLine(200, 'Company Name is required'),
  contactName: optional(line(200)),
  email: optional(line(320)).refine((value) => value === null || isEmail(value), 'Must be an email address'),
  phone: optional(line(50)),
  country: z.string().refine(isCountryCode, 'Must be a two-letter country code'),
};

/** The input of the customer modal; empty optional fields are omitted and stored as null. */
export const customerInput = z.strictObject(fields);
export type CustomerInput = z.output<typeof customerInput>;

export const customerSorts = sortsBy('name', 'email', 'country', 'createdAt');

const filter = { search, status: z.enum(customerStatuses).optional(), country: text(2).optional() };
const byId = z.object({ id });
const asShown = z.strictObject({ updatedAt: shownVersion });
const canRead = staffWith('customers', 'read');
const canUpdate = staffWith('customers', 'update');
const canDelete = staffWith('customers', 'delete');

type CustomerState = Pick<Customer, 'deletedAt'>;

/**
 * Why an action on a customer is refused in its present state; null when it is allowed (spec part 1, section 4). The
 * server enforces it, the console shows it.
 */
export const customerRefusal = {
  update: (c: CustomerState) =>
    c.deletedAt ? 'Customer is soft-deleted: reactivate it first, under Soft Deleted' : null,
  softDelete: (c: CustomerState) => (c.deletedAt ? 'Customer is already soft-deleted' : null),
  restore: (c: CustomerState) => (c.deletedAt ? null : 'Customer is not soft-deleted'),
  hardDelete: (c: CustomerState) =>
    c.deletedAt
      ? null
      : 'Only a soft-deleted customer can be permanently deleted. Delete the customer first.',
};

export const customers = {
  list: route('GET', '/api/customers', {
    summary: 'Customers; soft-deleted ones only on request',
    access: canRead,
    query: z.strictObject({
      ...filter,
      includeDeleted: queryFlag.optional(),
      sort: z.enum(customerSorts).optional(),
      ...paging,
    }),
    answer: z.array(customer),
    meta: listMeta.extend({ deleted: z.number() }).meta({ id: 'CustomerListMeta' }),
  }),
  trash: route('GET', '/api/customers/trash', {
    summary: 'Soft-deleted customers',
    access: canRead,
    query: z.strictObject({ search, ...paging }),
    answer: z.array(customer),
    meta: listMeta,
  }),
  exportCsv: route('GET', '/api/customers/export.csv', {
    summary: 'Customers that match the filter, as CSV',
    access: canRead,
    query: z.strictObject({ ...filter, sort: z.enum(customerSorts).optional() }),
    csv: true,
  }),
  impact: route('GET', '/api/customers/impact', {
    summary: 'How many licenses and machines deleting or restoring these customers affects',
    access: canRead,
    query: z.strictObject({ ids: idList }),
    answer: licenseImpact,
  }),
  get: route('GET', '/api/customers/{id}', {
    summary: 'One customer with its licenses',
    access: canRead,
    params: byId,
    query: z.strictObject({ includeDeleted: queryFlag.optional() }),
    answer: customer,
  }),
  create: route('POST', '/api/customers', {
    summary: 'Create a customer',
    access: staffWith('customers', 'create'),
    body: customerInput,
    answer: customer,
    status: 201,
  }),
  update: route('PUT', '/api/customers/{id}', {
    summary: 'Change a customer',
    access: canUpdate,
    params: byId,
    body: z.strictObject({ ...fields, updatedAt: seenVersion }),
    answer: customer,
    errors: ['WRONG_STATE'],
  }),
  softDelete: route('PATCH', '/api/customers/{id}/soft-delete', {
    summary: 'Soft-delete a customer; its machines are refused until it is restored',
    access: canDelete,
    params: byId,
    query: asShown,
    answer: customer,
    errors: ['WRONG_STATE'],
  }),
  restore: route('PATCH', '/api/customers/{id}/restore', {
    summary: 'Restore a soft-deleted customer',
    access: canUpdate,
    params: byId,
    query: asShown,
    answer: customer,
    errors: ['WRONG_STATE'],
  }),
  hardDelete: route('DELETE', '/api/customers/{id}', {
    summary: 'Permanently delete a soft-deleted customer, with its licenses and activations',
    access: canDelete,
    params: byId,
    query: asShown,
    errors: ['WRONG_STATE'],
  }),
  checkDeletable: route('GET', '/api/customers/{id}/check-deletable', {
    summary: 'Whether a customer can be permanently deleted, and what is deleted with it',
    access: canRead,
    params: byId,
    answer: namedObject('DeletableCheck', {
      canDelete: z.boolean(),
      message: z.string(),
      updatedAt: dateTime,
    }),
  }),
};
