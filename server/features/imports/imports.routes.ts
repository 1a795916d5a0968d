import { imports as calls } from '../../../contract/imports.ts';
import { staffWith } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Failure } from '../../failure.ts';
import { authorize } from '../../http/adapter.ts';
import { inChange, implement } from '../../http/call.ts';
import { checkCustomers, importCustomers } from './import-customers.ts';
import { checkLicenses, importLicenses } from './import-licenses.ts';

/** An import says which names exist, so it needs the permission to read customers too. */
const refuseReading = ({ actor }: Caller): Failure | undefined =>
  authorize(staffWith('customers', 'read'), actor);

const refuseIssuing = (by: Caller, { createCustomers }: { createCustomers: boolean }): Failure | undefined =>
  refuseReading(by) ?? (createCustomers ? authorize(staffWith('customers', 'create'), by.actor) : undefined);

export const importRoutes = ({ db }: Pick<Context, 'db'>) =>
  implement(calls, {
    checkCustomers: async ({ by, body }) => refuseReading(by) ?? checkCustomers(db, body),
    customers: inChange(async (change, { by, body }) => refuseReading(by) ?? importCustomers(change, body)),
    checkLicenses: async ({ by, body }) => refuseIssuing(by, body) ?? checkLicenses(db, by.now, body),
    licenses: inChange(
      async (change, { by, body }) => refuseIssuing(by, body) ?? importLicenses(change, body),
    ),
  });
