import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorStatus, type ErrorBody, type ErrorCode } from '../../contract/errors.ts';
import { isDatabaseUnreachable, whyStrained } from '../db/client.ts';
import { DatabaseDown } from '../db/listening.ts';
import { fail, failField, type Failure } from '../failure.ts';
import { ArrivedTooSlowly, TooManyBodies } from './arrivals.ts';
import { mostValues, TooManyValues } from './json-values.ts';

/** May be set before the storage fails; the error must not be cached as the file. */
const fileHeaders = [
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
];

/** Sends a Failure in the envelope of all errors. */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): FastifyReply {
  const body: ErrorBody = {
    success: false,
    error: failure.message,
    code: failure.failure,
    ...(failure.details ? { details: failure.details } : {}),
    requestId: request.id,
  };
  for (const name of fileHeaders) reply.removeHeader(name);
  if (failure.retryAfter !== undefined) reply.header('retry-after', String(failure.retryAfter));
  return reply
    .code(errorStatus[failure.failure])
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

export const databaseUnavailable = fail(
  'UNAVAILABLE',
  'The service cannot reach its database. Try again in a moment.',
  { retryAfter: 1 },
);

const tooManyBodies = fail('UNAVAILABLE', 'Too many large requests are arriving. Try again in a moment.', {
  retryAfter: 5,
});
/** The Failure for an error of a database that is unreachable or overloaded; undefined for other errors. */
export function databaseFailure(error: unknown): Failure | undefined {
  if (error instanceof DatabaseDown || isDatabaseUnreachable(error)) return databaseUnavailable;
  const why = whyStrained(error);
  return why === undefined ? undefined : fail('UNAVAILABLE', why, { retryAfter: 2 });
}

const arrivedTooSlowly = fail('REQUEST_TIMEOUT', 'The body took too long to arrive.');

const tooManyValues = failField(
  'INVALID_INPUT',
  'body',
  `Must have at most ${mostValues.toLocaleString('en')} values`,
);

const unsendableFile = fail('INVALID_INPUT', 'The file cannot be sent as this request asks for it.');

const frameworkFailures: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['TOO_LARGE', 'The body is larger than this call accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be JSON (Content-Type: application/json).',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'INVALID_INPUT',
    'The length of the body differs from Content-Length.',
  ],
};

/** The Failure for a request that was refused before its handler ran; undefined for other errors. */
export function frameworkFailure(error: unknown): Failure | undefined {
  if (error instanceof ArrivedTooSlowly) return arrivedTooSlowly;
  if (error instanceof TooManyBodies) return tooManyBodies;
  if (error instanceof TooManyValues) return tooManyValues;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const known = frameworkFailures[code ?? ''];
  if (known) return fail(...known);
  // thrown by the library that sends files, for a range, condition or path that it cannot serve
  if (error instanceof Error && 'expose' in error && statusCode && statusCode < 500) return unsendableFile;
  if (statusCode === 400 || error instanceof SyntaxError) {
    return fail('INVALID_INPUT', 'The body is not valid JSON.', {
      details: [{ path: 'body', message: 'Must be valid JSON' }],
    });
  }
  return undefined;
}
