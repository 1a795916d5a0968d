import { customers as calls } from '../../../contract/customers.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import { impactOfCustomers } from '../licenses/licenses.ts';
import {
  checkDeletable,
  createCustomer,
  exportCustomers,
  getCustomer,
  hardDeleteCustomer,
  listCustomers,
  listTrash,
  restoreCustomer,
  softDeleteCustomer,
  updateCustomer,
} from './customers.ts';

export const customerRoutes = ({ db, reports }: Context) =>
  implement(calls, {
    list: ({ query }) => listCustomers(db, query),
    trash: ({ query }) => listTrash(db, query),
    exportCsv: async ({ by, query }) => exportCustomers(reports, by, query),
    impact: ({ by, query }) => impactOfCustomers(reports, by.now, query.ids),
    get: ({ params, query }) => getCustomer(db, params.id, query.includeDeleted ?? false),
    create: change((tx, { by, body }) => createCustomer(tx, by, body)),
    update: change((tx, { by, params, body: { updatedAt, ...input }, ifMatch }) =>
      updateCustomer(tx, by, params.id, input, updatedAt ?? ifMatch),
    ),
    softDelete: change((tx, { by, params }) => softDeleteCustomer(tx, by, params.id)),
    restore: change((tx, { by, params }) => restoreCustomer(tx, by, params.id)),
    hardDelete: change((tx, { by, params }) => hardDeleteCustomer(tx, by, params.id)),
    checkDeletable: ({ params }) => checkDeletable(db, params.id),
  });
