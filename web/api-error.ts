import type { ErrorBody, ErrorDetail } from '../contract/errors.ts';

export const signInAgain = 'Authentication failed - please log in again';

/** A call that did not succeed. `message` is what a person is shown. `status` 0: no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorBody['code'] | undefined;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
  /** The server's own sentence, without details. */
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
 * The error that a non-success answer stands for, in the words of spec part 1, section 8; `otherwise` is said when
 * the server says nothing.
 */
export function errorOf(
  status: number,
  text: string,
  otherwise = `Request failed with status ${status}`,
): ApiError {
  const body = jsonObject(text);
  if (!body) return new ApiError(status, plainText(text) ?? otherwise);
  const said = body['message'] || body['error'];
  if (!said) return new ApiError(status, otherwise, body);
  const details = body['details'] ? `\nDetails: ${asText(body['details'])}` : '';
  return new ApiError(status, asText(said) + details, body);
}

/** What to show for anything that was thrown. */
export const messageOf = (error: unknown, fallback = 'Unknown error'): string =>
  error instanceof Error && error.message ? error.message : fallback;

/** What the server says about single fields, by field, for `form.setErrors`. */
export const fieldErrors = (error: unknown): Record<string, string> =>
  error instanceof ApiError ? Object.fromEntries(error.details.map((d) => [d.path, d.message])) : {};

/** The server's own sentence, else the words of spec part 2, section 8; a server that is not there is named. */
export function sentenceOf(error: unknown, otherwise: string): string {
  if (!(error instanceof ApiError)) return otherwise;
  return error.sentence ?? (error.status === 0 ? `${otherwise}. ${error.message}` : otherwise);
}

/** The same for a form whose fields already say part of it: undefined where they say all. */
export function sentenceBesideFields(error: Error | null, otherwise: string): string | undefined {
  if (!error) return undefined;
  const sentence = sentenceOf(error, otherwise);
  return Object.values(fieldErrors(error)).some((said) => sentence.includes(said)) ? undefined : sentence;
}

const longestPlainText = 99;

/** A page of a proxy is no sentence for a person. */
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

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
