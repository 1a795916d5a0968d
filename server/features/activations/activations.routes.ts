import { activations as calls } from '../../../contract/activations.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import { deactivateMachine, listActivations } from './activations.ts';

export const activationRoutes = ({ db, config }: Context) =>
  implement(calls, {
    list: ({ by, params }) => listActivations(db, by.now, config.selfReleasesPerSeat, params.licenseKey),
    deactivate: change((tx, { by, params, body }) =>
      deactivateMachine(tx, by, params.activationId, body.machineId),
    ),
  });
