import { activations as calls } from '../../../contract/activations.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import { deactivateMachine, listActivations } from './activations.ts';

export const activationRoutes = ({ db }: Context) =>
  implement(calls, {
    list: ({ params }) => listActivations(db, params.licenseKey),
    deactivate: change((tx, { by, params, body }) =>
      deactivateMachine(tx, by, params.activationId, body.machineId),
    ),
  });
