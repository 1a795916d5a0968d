import { rollouts as calls } from '../../../contract/rollouts.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { setPlan } from '../releases/index.ts';
import { rolloutDefaults, setRolloutDefault } from './defaults.ts';
import { widenRollout } from './steps.ts';

export const rolloutRoutes = ({ db }: Context) =>
  implement(calls, {
    plan: inChange((change, { params, body: { plan, startsAt } }) =>
      setPlan(change, params.releaseId, { rolloutPlan: plan, startsAt }),
    ),
    widen: inChange((change, { params, body }) => widenRollout(change, params.releaseId, body.percentage)),
    defaults: () => rolloutDefaults(db),
    setDefault: inChange((change, { params, body }) => setRolloutDefault(change, params.channel, body.plan)),
  });
