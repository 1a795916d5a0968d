import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import { asSentence } from '../contract/text.ts';

/** An expected outcome other than success. Returned, never thrown; its code determines the HTTP status. */
export type Failure = {
  readonly failure: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetail[];
  /** Seconds after which to retry a 429 or 503. */
  readonly retryAfter?: number;
};

/** Creates a Failure. `message` is a complete sentence for a person. */
export function fail(
  code: ErrorCode,
  message: string,
  extra: { details?: ErrorDetail[]; retryAfter?: number } = {},
): Failure {
  return { failure: code, message, ...extra };
}

/** Creates a 404. Who asks by an id had the record on the screen, more often than not: a colleague may have deleted it. */
export const noSuch = (record: string): Failure =>
  fail('NOT_FOUND', `There is no such ${record}. It may have been deleted.`);

/** Creates a Failure for the reason why a state forbids a change; undefined for none. */
export const wrongState = (reason: string | null): Failure | undefined =>
  reason === null ? undefined : fail('WRONG_STATE', asSentence(reason));

/** Creates a 429 whose message says when to try again; `retryAfter` in seconds. */
export function tooMany(sentence: string, retryAfter: number): Failure {
  const minutes = Math.ceil(retryAfter / 60);
  const wait = minutes <= 1 ? 'a minute' : `${minutes} minutes`;
  return fail('TOO_MANY_REQUESTS', `${sentence} Try again in ${wait}.`, { retryAfter });
}

/** Creates a Failure for one field, which its message and details name. */
export const failField = (code: ErrorCode, path: string, message: string): Failure =>
  fail(code, `${path}: ${message}`, { details: [{ path, message }] });

/** Creates a Failure for a well-formed field that breaks a rule. */
export const breaksRule = (path: string, message: string): Failure =>
  failField('RULE_VIOLATED', path, message);

export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'failure' in value;
}

/** Carries a failure out of code that ends only by throwing. */
export class CarriedFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}
