import { validation as calls } from '../../../contract/validation.ts';
import { inChange, implement } from '../../http/call.ts';
import { publishedKeys } from '../keys/keys.ts';
import { release, validate, type Validator } from './validation.ts';

export const validationRoutes = (validator: Validator) =>
  implement(calls, {
    validate: ({ by, body }) => validate(validator, by, body),
    release: inChange((change, { body }) => release(change, validator.config.selfReleasesPerSeat, body)),
    keys: () => publishedKeys(validator.db, validator.keys.signer),
  });
