import { bulkLicenses } from '../../../contract/license-bulk.ts';
import { licenses as calls } from '../../../contract/licenses.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import {
  createLicense,
  deleteLicense,
  getLicense,
  reactivateLicense,
  revokeLicense,
  updateLicense,
} from './licenses.ts';
import { changeLicenses, previewBulk } from './bulk.ts';
import { createLicenseCounts, exportLicenses, listLicenses } from './license-list.ts';
import { impactOfLicenses } from './license-impact.ts';
import type { ImpactParts } from '../policies/index.ts';
import { transferImpact, transferLicense } from './transfer.ts';

export function licenseRoutes(context: Context & ImpactParts) {
  const { db, reports } = context;
  const counts = createLicenseCounts(context);
  const one = implement(calls, {
    list: ({ by, query }) => listLicenses(context, counts, by.now, query),
    exportCsv: async ({ by, query }) => exportLicenses({ ...context, db: reports }, by, query),
    impact: ({ by, query }) => impactOfLicenses(reports, by.now, query.ids),
    get: ({ params }) => getLicense(db, params.id),
    create: inChange((change, { body }) => createLicense(change, body)),
    update: inChange((change, { params, body: patch, seen }) =>
      updateLicense(change, params.id, patch, seen),
    ),
    transferImpact: ({ by, params, query }) => transferImpact(context, by, params.id, query.customerId),
    transfer: inChange((change, { params, body, seen }) =>
      transferLicense(change, params.id, body.customerId, seen),
    ),
    delete: inChange((change, { params }) => deleteLicense(change, params.id)),
    revoke: inChange((change, { params, seen }) => revokeLicense(change, params.id, seen)),
    reactivate: inChange((change, { params, seen }) => reactivateLicense(change, params.id, seen)),
  });
  const bulk = implement(bulkLicenses, {
    preview: ({ by, query, body }) => previewBulk(reports, by.now, query, body),
    change: inChange((change, { body }) => changeLicenses(change, body.licenses)),
  });
  return [...one, ...bulk];
}
