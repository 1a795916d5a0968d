import { imports as calls } from '../../../contract/imports.ts';
import { staffWith } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { authorize } from '../../http/authorize.ts';
import { inChange, implement } from '../../http/call.ts';
import { checkCustomers, importCustomers } from './import-customers.ts';
import { checkLicenses, importLicenses } from './import-licenses.ts';

/** Whether the file may create its customers too depends on its option. */
const refuseCreating = ({ actor }: Caller, { createCustomers }: { createCustomers: boolean }) =>
  createCustomers ? authorize(staffWith('customers', 'create'), actor) : undefined;

export const importRoutes = ({ db }: Pick<Context, 'db'>) =>
  implement(calls, {
    checkCustomers: ({ body }) => checkCustomers(db, body),
    customers: inChange((change, { body }) => importCustomers(change, body)),
    checkLicenses: async ({ by, body }) => refuseCreating(by, body) ?? checkLicenses(db, by.now, body),
    licenses: inChange(
      async (change, { by, body }) => refuseCreating(by, body) ?? importLicenses(change, body),
    ),
  });
