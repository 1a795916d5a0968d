import { licenses as calls } from '../../../contract/licenses.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import {
  createLicense,
  createLicenseCounts,
  deleteLicense,
  exportLicenses,
  getLicense,
  impactOfLicenses,
  listLicenses,
  reactivateLicense,
  revokeLicense,
  updateLicense,
} from './licenses.ts';

export function licenseRoutes(context: Context) {
  const { db, reports } = context;
  const counts = createLicenseCounts(context);
  return implement(calls, {
    list: ({ by, query }) => listLicenses(context, counts, by.now, query),
    exportCsv: async ({ by, query }) => exportLicenses(reports, by, query),
    impact: ({ by, query }) => impactOfLicenses(reports, by.now, query.ids),
    get: ({ params }) => getLicense(db, params.id),
    create: change((tx, { by, body }) => createLicense(tx, by, body)),
    update: change((tx, { by, params, body: { updatedAt, ...patch }, ifMatch }) =>
      updateLicense(tx, by, params.id, patch, updatedAt ?? ifMatch),
    ),
    delete: change((tx, { by, params }) => deleteLicense(tx, by, params.id)),
    revoke: change((tx, { by, params }) => revokeLicense(tx, by, params.id)),
    reactivate: change((tx, { by, params }) => reactivateLicense(tx, by, params.id)),
  });
}
