import { z } from 'zod';
import { namedObject } from './common.ts';

/** Every error code with its HTTP status. The list is closed: other codes can be neither sent nor expected. */
export const errorStatus = {
  INVALID_INPUT: 400,
  UNAUTHENTICATED: 401,
  WRONG_CREDENTIALS: 401,
  SECOND_FACTOR_REQUIRED: 401,
  FORBIDDEN: 403,
  CROSS_SITE: 403,
  NOT_FOUND: 404,
  REQUEST_TIMEOUT: 408,
  ALREADY_EXISTS: 409,
  EDIT_CONFLICT: 409,
  WRONG_STATE: 409,
  CHUNKS_LOST: 409,
  NEEDS_APPROVAL: 409,
  IDEMPOTENCY_MISMATCH: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RULE_VIOLATED: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  STORAGE_FULL: 507,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

/**
 * The error of one field. In an EDIT_CONFLICT `current` is the stored value and `yours` the one sent, so that a person
 * can see the difference.
 */
export const errorDetail = namedObject('ErrorDetail', {
  path: z.string(),
  message: z.string(),
  current: z.unknown().optional(),
  yours: z.unknown().optional(),
});

export type ErrorDetail = z.output<typeof errorDetail>;

/** The body of every error response: `error` is a sentence for people, `code` is for programs. */
export const errorBody = namedObject('Error', {
  success: z.literal(false),
  error: z.string(),
  code: z.enum(errorCodes),
  details: z.array(errorDetail).optional(),
  requestId: z.string(),
});

export type ErrorBody = z.output<typeof errorBody>;
