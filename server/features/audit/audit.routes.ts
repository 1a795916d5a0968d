import { audit as calls, type AuditVerification } from '../../../contract/audit.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import { getEntry } from './audit-detail.ts';
import { exportEntries } from './audit-export.ts';
import { createCount, listEntries } from './audit-list.ts';
import { choicesOf, statsOf } from './audit-stats.ts';
import type { ChainWatch } from './watch.ts';
import { cleanUpNow, impactOfCleanUp, retentionOf, setRetention } from './cleanup.ts';

export const auditRoutes = (context: Context, watch: ChainWatch) => {
  const { db, reports } = context;
  const count = createCount(db);
  const verify = oneAtATime(watch.verify);
  return implement(calls, {
    list: ({ query }) => listEntries(context, count, query),
    exportCsv: ({ by, query }) => exportEntries({ ...context, db: reports }, by, query),
    stats: ({ query, by }) => statsOf(reports, query.days, by.now),
    choices: () => choicesOf(reports),
    config: () => retentionOf(db),
    setConfig: inChange((change, { body }) => setRetention(change, body)),
    cleanupImpact: ({ by, query }) => impactOfCleanUp(reports, by.now, query.days),
    cleanup: inChangeAfter(
      async () => {
        await watch.seal();
        return watch.readHeads();
      },
      (change, { query }, kept) => cleanUpNow(change, watch.keys, kept, query.days),
    ),
    verify,
    chain: async () => watch.state(),
    get: ({ params }) => getEntry(context, params.id),
  });
};

/** Concurrent calls share one check, since it reads the whole log. */
function oneAtATime(check: () => Promise<AuditVerification>): () => Promise<AuditVerification> {
  let running: Promise<AuditVerification> | undefined;
  return () => (running ??= check().finally(() => (running = undefined)));
}
