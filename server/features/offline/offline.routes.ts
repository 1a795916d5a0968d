import { offline as calls } from '../../../contract/offline.ts';
import { implement, inChange } from '../../http/call.ts';
import { issueLicenseFile, takeReceipt, type Issuer } from './license-files.ts';

export const offlineRoutes = (issuer: Issuer) =>
  implement(calls, {
    issue: inChange((change, { params, body }) => issueLicenseFile(change, issuer, params.id, body)),
    giveBack: inChange((change, { params, body }) => takeReceipt(change, params.id, body.receipt)),
  });
