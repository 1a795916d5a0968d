import { audit as calls, type AuditVerification } from '../../../contract/audit.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import { getEntry } from './audit-detail.ts';
import { exportEntries } from './audit-export.ts';
import { createCount, listEntries } from './audit-list.ts';
import { choicesOf, statsOf } from './audit-stats.ts';
import { sealPending, verifyChain, type AuditKeys } from './audit.ts';
import { cleanUp, retentionOf, setRetention } from './cleanup.ts';

export const auditRoutes = ({ db, clock }: Context, keys: AuditKeys) => {
  const count = createCount(db);
  const verify = oneAtATime(async () => {
    await sealPending(db, keys, clock);
    return verifyChain(db, keys);
  });
  return implement(calls, {
    list: ({ query }) => listEntries(db, count, query),
    exportCsv: ({ by, query }) => exportEntries(db, by, query),
    stats: ({ query, by }) => statsOf(db, query.days, by.now),
    choices: () => choicesOf(db),
    config: () => retentionOf(db),
    setConfig: change((tx, { by, body }) => setRetention(tx, by, body.value)),
    cleanup: change((tx, { by }) => cleanUp(tx, by, keys)),
    verify,
    get: ({ params }) => getEntry(db, params.id),
  });
};

/** Whoever asks while the chain is being checked waits for that answer: it reads the whole log. */
function oneAtATime(check: () => Promise<AuditVerification>): () => Promise<AuditVerification> {
  let running: Promise<AuditVerification> | undefined;
  return () => (running ??= check().finally(() => (running = undefined)));
}
