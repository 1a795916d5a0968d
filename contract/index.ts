import { account } from './account.ts';
import { activations } from './activations.ts';
import { analytics } from './analytics.ts';
import { apiKeys } from './api-keys.ts';
import { approvals } from './approvals.ts';
import { audit } from './audit.ts';
import { clock } from './clock.ts';
import { credentials } from './credentials.ts';
import { customerPage } from './customer-page.ts';
import { customers } from './customers.ts';
import { downloads } from './downloads.ts';
import { imports } from './imports.ts';
import { keys } from './keys.ts';
import { bulkLicenses } from './license-bulk.ts';
import { licenses } from './licenses.ts';
import { machineStandings } from './machine-standing.ts';
import { machines } from './machines.ts';
import { modules } from './modules.ts';
import { notices } from './notices.ts';
import { offline } from './offline.ts';
import { policies } from './policies.ts';
import { releases } from './releases.ts';
import { rollouts } from './rollouts.ts';
import { session } from './session.ts';
import { today } from './today.ts';
import { updateEvents } from './update-events.ts';
import { updates } from './updates.ts';
import { uploads } from './uploads.ts';
import { rbac, users } from './users.ts';
import { validation } from './validation.ts';
import { views } from './views.ts';

/** Every call of the service, by feature. */
export const contract = {
  account,
  users,
  rbac,

  session,
  today,
  notices,
  clock,
  customers,
  customerPage,
  licenses,
  bulkLicenses,
  imports,
  modules,
  activations,
  validation,
  credentials,
  offline,
  keys,
  analytics,
  apiKeys,
  releases,
  approvals,
  rollouts,
  policies,
  uploads,
  downloads,
  updates,
  updateEvents,
  machines,
  machineStandings,
  audit,
  views,
};
