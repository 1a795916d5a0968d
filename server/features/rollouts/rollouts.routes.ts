import { rollouts as calls } from '../../../contract/rollouts.ts';
import type { ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { setPlan } from '../releases/index.ts';
import { failureComparison } from '../update-events/index.ts';
import { rolloutDefaults, setRolloutDefault } from './defaults.ts';
import { createCensus, type CensusParts } from './census.ts';
import { releaseHistory } from './history.ts';
import { machinesCsv, rolloutMachines } from './machines.ts';
import { createProgress } from './progress.ts';
import { rolloutSummaries } from './summary.ts';
import { widenRollout } from './steps.ts';

export const rolloutRoutes = (parts: ChangeParts & CensusParts & Pick<Context, 'reportsWait'>) => {
  const { db, reports } = parts;
  const census = createCensus(parts);
  const progress = createProgress(parts, census);
  return implement(calls, {
    summaries: ({ by, query }) => rolloutSummaries(reports, census, query.ids, by.now),
    plan: inChange((change, { params, body: { plan, startsAt }, seen }) =>
      setPlan(change, params.releaseId, { rolloutPlan: plan, startsAt }, seen),
    ),
    widen: inChange((change, { params, body, seen }) =>
      widenRollout(change, parts, params.releaseId, { ...body, seen }),
    ),
    progress: ({ by, params }) => progress(params.releaseId, by.now),
    machines: ({ by, params, query }) => rolloutMachines(reports, by, params.releaseId, query),
    machinesCsv: ({ by, params, query }) => machinesCsv(parts, reports, by, params.releaseId, query),
    history: ({ params }) => releaseHistory(db, params.releaseId),
    failureComparison: ({ query }) => failureComparison(db, query),
    defaults: () => rolloutDefaults(db),
    setDefault: inChange((change, { params, body }) => setRolloutDefault(change, params.channel, body)),
  });
};
