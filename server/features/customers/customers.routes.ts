import { customers as calls } from '../../../contract/customers.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { impactOfCustomers } from '../licenses/index.ts';
import {
  checkDeletable,
  createCustomer,
  getCustomer,
  hardDeleteCustomer,
  restoreCustomer,
  softDeleteCustomer,
  updateCustomer,
} from './customers.ts';
import { exportCustomers, listCustomers, listTrash } from './customer-list.ts';

export function customerRoutes(context: Context) {
  const { db, reports } = context;
  return implement(calls, {
    list: ({ by, query }) => listCustomers(db, by, query),
    trash: ({ by, query }) => listTrash(db, by, query),
    exportCsv: async ({ by, query }) => exportCustomers({ ...context, db: reports }, by, query),
    impact: ({ by, query }) => impactOfCustomers(reports, by.now, query.ids),
    get: ({ by, params, query }) => getCustomer(db, by, params.id, query.includeDeleted ?? false),
    create: inChange((change, { body }) => createCustomer(change, body)),
    update: inChange((change, { params, body: input, seen }) =>
      updateCustomer(change, params.id, input, seen),
    ),
    softDelete: inChange((change, { params, seen }) => softDeleteCustomer(change, params.id, seen)),
    restore: inChange((change, { params, seen }) => restoreCustomer(change, params.id, seen)),
    hardDelete: inChange((change, { params, seen }) => hardDeleteCustomer(change, params.id, seen)),
    checkDeletable: ({ params }) => checkDeletable(db, params.id),
  });
}
