import path from 'node:path';
import { cookiesOf, createAuthentication } from './authentication.ts';
import { createInspector } from './binaries/inspect.ts';
import { createBudgets } from './budgets.ts';
import type { Context } from './context.ts';
import { createFacts } from './db/facts.ts';
import { createWriteBehind } from './db/write-behind.ts';
import { openJournal } from './db/journal.ts';
import { accountRoutes } from './features/account/account.routes.ts';
import { activationRoutes } from './features/activations/activations.routes.ts';
import { approvalRoutes } from './features/approvals/approvals.routes.ts';
import type { ChainWatch, Refusals } from './features/audit/index.ts';
import { auditRoutes } from './features/audit/audit.routes.ts';
import { analyticsRoutes } from './features/analytics/analytics.routes.ts';
import { createApiKeyCheck } from './features/api-keys/index.ts';
import { apiKeyRoutes } from './features/api-keys/api-keys.routes.ts';
import { clockRoutes } from './features/clock/clock.routes.ts';
import { createMachineCheck } from './features/credentials/index.ts';
import { credentialRoutes } from './features/credentials/credentials.routes.ts';
import { customerPageRoutes } from './features/customer-page/customer-page.routes.ts';
import { customerRoutes } from './features/customers/customers.routes.ts';
import { downloadRoutes } from './features/downloads/downloads.routes.ts';
import type { InstallationKeys } from './features/keys/index.ts';
import { importRoutes } from './features/imports/imports.routes.ts';
import { keyRoutes } from './features/keys/keys.routes.ts';
import { licenseRoutes } from './features/licenses/licenses.routes.ts';
import { machineRoutes } from './features/machines/machines.routes.ts';
import { createModuleNames } from './features/modules/index.ts';
import { moduleRoutes } from './features/modules/modules.routes.ts';
import { noticeRoutes } from './features/notices/notices.routes.ts';
import { offlineRoutes } from './features/offline/offline.routes.ts';
import { createPolicyFinder, customersPinnedTo } from './features/policies/index.ts';
import { policyRoutes } from './features/policies/policies.routes.ts';
import { createReleaseSet } from './features/releases/index.ts';
import { releaseRoutes } from './features/releases/releases.routes.ts';
import { rolloutRoutes } from './features/rollouts/rollouts.routes.ts';
import { createSessions } from './features/session/index.ts';
import { sessionRoutes } from './features/session/session.routes.ts';
import { createUpdateRecorder } from './features/update-events/index.ts';
import { todayRoutes } from './features/today/today.routes.ts';
import { updateEventRoutes } from './features/update-events/update-events.routes.ts';
import { updateRoutes } from './features/updates/updates.routes.ts';
import { requireOwn } from './features/uploads/index.ts';
import { uploadRoutes } from './features/uploads/uploads.routes.ts';
import { userRoutes } from './features/users/users.routes.ts';
import { createValidationRecorder } from './features/validation/validation-recorder.ts';
import { createSeatFinder } from './features/validation/find.ts';
import { validationRoutes } from './features/validation/validation.routes.ts';
import { viewRoutes } from './features/views/views.routes.ts';
import { serve } from './http/adapter.ts';
import { arrivalLimits, type ArrivalLimits } from './http/arrivals.ts';
import { serveConsole } from './http/console.ts';
import { diagnosticsGuard } from './http/diagnostics.ts';
import { serveDocs } from './http/docs.ts';
import { drainOnClose } from './http/drain.ts';
import { serveHealth } from './http/health.ts';
import { serveMetrics } from './http/metrics.ts';
import { createServer } from './http/server.ts';
import type { Passwords } from './passwords.ts';
import { watchStorage } from './storage/watch.ts';

const journalWithinMs = 6000;

type AppParts = {
  keys: Pick<InstallationKeys, 'signer'>;
  audit: ChainWatch;
  refusals: Refusals;
  passwords: Passwords;
  version: string;
  checkAnswers?: boolean;
  /** Time limits for receiving a request; tests use shorter ones. */
  arrival?: ArrivalLimits;
};

/**
 * Builds the HTTP service on a context. `checkAnswers` validates every response against the contract, for tests.
 * Closing the app waits for requests in progress, then writes the queued records.
 */
export async function buildApp(
  context: Context,
  { keys, audit, refusals, passwords, version, checkAnswers = false, arrival = arrivalLimits }: AppParts,
) {
  const app = await createServer(context, arrival);
  const drain = drainOnClose(app, context.config.drainMs);
  const journal = openJournal(path.join(context.config.dataDir, 'journal'), context.config.journalMaxBytes);
  const behind = createWriteBehind({ ...context, journal });
  const validationRecorder = createValidationRecorder(context, behind);
  const budgets = createBudgets({ ...context, db: context.reserved.db }, context.clock);
  const apiKeys = createApiKeyCheck(context, budgets, behind);
  const facts = createFacts(context.signals, context.config.cacheBytes);
  const seats = createSeatFinder(context.reserved.pool, facts);
  const machines = createMachineCheck({ ...context, seats, budgets });
  const sessions = createSessions(context, passwords, refusals);
  const inspector = createInspector();
  const updateRecorder = createUpdateRecorder(context, budgets, behind);
  context.reportsWait = updateRecorder.isBehind;
  const releaseSet = createReleaseSet(context);
  const policyOf = createPolicyFinder({ ...context, facts, releaseSet });
  const storageWatch = watchStorage(context, () =>
    requireOwn({ ...context, db: context.reserved.db }, context.clock()),
  );

  const validator = {
    ...context,
    keys,
    recorder: validationRecorder,
    seats,
    moduleNames: createModuleNames({ ...context, db: context.reserved.db }),
  };

  const released = [
    ...releaseRoutes({ ...context, pinnedTo: customersPinnedTo }),
    ...rolloutRoutes({ ...context, releaseSet }),
  ];
  const implemented = [
    sessionRoutes(sessions),
    accountRoutes(context, passwords, refusals),
    userRoutes(context, passwords, refusals),
    clockRoutes(context),
    todayRoutes({ ...context, audit, storageWatch }),
    noticeRoutes({ ...context, storageWatch }),
    customerRoutes(context),
    customerPageRoutes({ ...context, releaseSet }),
    moduleRoutes(context),
    licenseRoutes({ ...context, releaseSet }),
    importRoutes(context),
    activationRoutes(context),
    validationRoutes(validator),
    credentialRoutes({ validator, budgets }),
    offlineRoutes({ ...context, keys }),
    apiKeyRoutes(context),
    keyRoutes(context.db, keys),
    analyticsRoutes(context),
    auditRoutes(context, audit),
    viewRoutes(context),
    released,
    approvalRoutes({ ...context, passwords, refusals }, released),
    uploadRoutes({ ...context, storageWatch, inspector }),
    downloadRoutes({ ...context, releases: releaseSet, recorder: updateRecorder, inspector }),
    updateRoutes({ ...context, releaseSet, policyOf, recorder: updateRecorder }),
    policyRoutes({ ...context, releaseSet }),
    updateEventRoutes({ ...context, recorder: updateRecorder }),
    machineRoutes({ ...context, policyOf }),
  ].flat();
  const auth = createAuthentication(context, sessions, { apiKeys, machines }, refusals);
  serve(app, context, implemented, { auth, checkAnswers });

  const guard = diagnosticsGuard(context.config, auth);
  serveMetrics(app, context, guard, { audit, budgets, refusals, behind, facts, storage: storageWatch });
  serveHealth(app, context, { storage: storageWatch, drain });
  await serveDocs(app, version, cookiesOf(context.config).session, guard);
  await serveConsole(app);
  let lastCall: NodeJS.Timeout | undefined;
  // Hanging calls delay the close until the process exits; records of completed responses are on disk by then.
  app.addHook('preClose', async () => {
    lastCall = setTimeout(() => void behind.toJournal(), journalWithinMs).unref();
  });
  app.addHook('onClose', async () => {
    storageWatch.stop();
    clearTimeout(lastCall);
    await behind.stop();
    await refusals.stop();
    await budgets.stop();
    await inspector.stop();
  });
  return app;
}
