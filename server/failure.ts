import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';

/** An expected outcome that is not a success. It is returned, never thrown; its code decides the HTTP status. */
export type Failure = {
  readonly failure: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetail[];
  /** Seconds after which a 429 or 503 may be tried again. */
  readonly retryAfter?: number;
};

/** Makes a Failure. `message` is a whole sentence for a person. */
export function fail(
  code: ErrorCode,
  message: string,
  extra: { details?: ErrorDetail[]; retryAfter?: number } = {},
): Failure {
  return { failure: code, message, ...extra };
}

/** A Failure because of one field, which its sentence and its details name. */
export const failField = (code: ErrorCode, path: string, message: string): Failure =>
  fail(code, `${path}: ${message}`, { details: [{ path, message }] });

/** A field that is well formed and breaks a rule. */
export const breaksRule = (path: string, message: string): Failure =>
  failField('RULE_VIOLATED', path, message);

/** Tells a Failure from whatever else a function may return. */
export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'failure' in value;
}
