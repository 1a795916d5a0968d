import type { ErrorBody, ErrorDetail } from '../contract/errors.ts';
import { parsedJson } from '../contract/text.ts';
import { isObject } from './is-object.ts';

export const signInAgain = 'Authentication failed - please log in again';

/** A failed call. `message` is shown to the user. `status` is 0 when no response was received. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorBody['code'] | undefined;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
  /** No answer came to a change: it may have been made. */
  isUnanswered = false;
  /** The call that failed. */
  made: { call: string; params: Record<string, string>; body: unknown } | undefined;
  /** The server's message, without details. */
  readonly sentence: string | undefined;

  constructor(status: number, message: string, body: Partial<ErrorBody> = {}) {
    super(message);
    this.status = status;
    this.code = body.code;
    this.details = Array.isArray(body.details) ? body.details : [];
    this.requestId = body.requestId;
    this.sentence = typeof body.error === 'string' ? body.error : undefined;
  }
}

/**
 * The error for an unsuccessful response, in the words of spec part 1, section 8; `otherwise` is the message when the
 * server sends none.
 */
export function errorOf(
  status: number,
  text: string,
  otherwise = `Request failed with status ${status}`,
): ApiError {
  const body = parsedJson(text);
  if (!isObject(body)) return new ApiError(status, plainText(text) ?? otherwise);
  const said = body['message'] || body['error'];
  if (!said) return new ApiError(status, otherwise, body);
  // their details are not problems: they list what would change
  const details = body['details'] && body['code'] !== 'NEEDS_APPROVAL' ? asText(body['details']) : '';
  return new ApiError(status, asText(said) + (details && `\nDetails: ${details}`), body);
}

/** The message to show for any thrown value. */
export const messageOf = (error: unknown, fallback = 'Unknown error'): string =>
  error instanceof Error && error.message ? error.message : fallback;

/** The server's messages about single fields, by field, for `form.setErrors`. */
export const fieldErrors = (error: unknown): Record<string, string> =>
  error instanceof ApiError && error.code !== 'NEEDS_APPROVAL'
    ? Object.fromEntries(error.details.map((d) => [d.path, d.message]))
    : {};

/** No answer came to a change: it may have been made. */
export const isUnanswered = (error: unknown): boolean => error instanceof ApiError && error.isUnanswered;

/**
 * No answer of the service came to a change, or that of a proxy that waits for it, or of a service that has lost its
 * database: it may have been made. The same request with its key is done once.
 */
export const mayBeDone = (error: unknown): boolean =>
  isUnanswered(error) || (error instanceof ApiError && [502, 503, 504].includes(error.status));

/** `refused` and why; only why where the change may have been made. */
export const refusalOf = (refused: string, error: unknown, why = messageOf(error)): string =>
  isUnanswered(error) ? why : `${refused}: ${why}`;

/**
 * The server's message, else the words of spec part 2, section 8; an unreachable server is named as such, without these
 * words where the change may have been made.
 */
export function sentenceOf(error: unknown, otherwise: string): string {
  if (!(error instanceof ApiError)) return otherwise;
  if (error.isUnanswered) return error.message;
  return error.sentence ?? (error.status === 0 ? `${otherwise}. ${error.message}` : otherwise);
}

/** The same for a form whose fields already show part of it: undefined when they show all of it. */
export function sentenceBesideFields(error: Error | null, otherwise: string): string | undefined {
  if (!error) return undefined;
  const sentence = sentenceOf(error, otherwise);
  const isSaid = (said: string) => sentence.toLowerCase().includes(said.toLowerCase());
  return Object.values(fieldErrors(error)).some(isSaid) ? undefined : sentence;
}

const longestPlainText = 99;

/** An HTML page from a proxy is not a message for the user. */
const isMarkup = (text: string) => /^<[a-z!?/]/i.test(text);

function plainText(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed && trimmed.length <= longestPlainText && !isMarkup(trimmed) ? trimmed : undefined;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every(isDetail)) {
    return value.map((d) => (d.path ? `${d.path}: ${d.message}` : d.message)).join('; ');
  }
  return JSON.stringify(value);
}

const isDetail = (value: unknown): value is ErrorDetail =>
  typeof value === 'object' && value !== null && 'path' in value && 'message' in value;
