import { activations as calls } from '../../../contract/activations.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { deactivateMachine, listActivations } from './activations.ts';

export const activationRoutes = ({ db, config }: Context) =>
  implement(calls, {
    list: ({ by, params }) => listActivations(db, by.now, config, params.licenseKey),
    deactivate: inChange((change, { params, body }) => deactivateMachine(change, params.activationId, body)),
  });
