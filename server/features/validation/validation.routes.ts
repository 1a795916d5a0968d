import type { FastifyRequest } from 'fastify';
import { validation as calls } from '../../../contract/validation.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { releaseSeat } from './release-seat.ts';
import { createResultsOfLicense } from './results.ts';
import { validate, type Validator } from './validation.ts';

export const validationRoutes = (validator: Validator & Pick<Context, 'reports'>) => {
  const resultsOfLicense = createResultsOfLicense(validator.reports);
  return implement(calls, {
    ofLicense: ({ by, params }) => resultsOfLicense(by.now, params.id),
    validate: ({ by, body, http }) =>
      validate(
        validator,
        by,
        body,
        by.actor.kind === 'machine' ? { sequence: sequenceOf(http.request) } : undefined,
      ),
    releaseSeat: inChange((change, { body }) =>
      releaseSeat(change, validator.config.selfReleasesPerSeat, body),
    ),
  });
};

/** The number of the call by the count of the machine; null if it sends none. */
function sequenceOf({ headers }: FastifyRequest): number | null {
  const text = headers['x-machine-sequence'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
