import { validation as calls } from '../../../contract/validation.ts';
import { inChange, implement } from '../../http/call.ts';
import { releaseSeat, validate, type Validator } from './validation.ts';

export const validationRoutes = (validator: Validator) =>
  implement(calls, {
    validate: ({ by, body }) => validate(validator, by, body),
    releaseSeat: inChange((change, { body }) =>
      releaseSeat(change, validator.config.selfReleasesPerSeat, body),
    ),
  });
