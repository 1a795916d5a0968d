import type { z } from 'zod';
import type { ErrorDetail } from '../../contract/errors.ts';
import type { Route } from '../../contract/route.ts';
import { fail, type Failure } from '../failure.ts';

type CheckedInput = { params: unknown; query: unknown; body: unknown };

const mostDetails = 100;

/**
 * Checks every part of a request against the contract. Returns the transformed parts, or one Failure that names each
 * field that is wrong once, and at most 100: of a number far out of range, the first problem is the limit of its field.
 */
export function checkInput(route: Route, raw: CheckedInput): CheckedInput | Failure {
  // by path: a report of 500 events may have thousands of wrong fields
  const wrong = new Map<string, ErrorDetail>();
  const read = (part: 'params' | 'query' | 'body', value: unknown): unknown => {
    const schema = route[part];
    if (!schema) return undefined;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const detail of parsed.error.issues.flatMap((issue) => toDetails(part, issue)))
      if (!wrong.has(detail.path)) wrong.set(detail.path, detail);
    return undefined;
  };
  const input = {
    params: read('params', raw.params),
    query: read('query', raw.query),
    body: read('body', route.bodyOptional && isEmptyBody(raw.body) ? {} : raw.body),
  };
  const details = [...wrong.values()];
  if (!route.body && !route.anyBody && !isEmptyBody(raw.body))
    details.push({ path: 'body', message: 'This call takes no body' });
  if (!route.query && Object.keys(raw.query as object).length > 0) {
    details.push({ path: 'query', message: 'This call takes no query parameters' });
  }
  return details.length === 0
    ? input
    : fail('INVALID_INPUT', sentence(details), { details: details.slice(0, mostDetails) });
}

const isEmptyBody = (body: unknown) =>
  body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);

/** One detail for each invalid field of an issue; `part` is the path of a value that is invalid as a whole. */
export function toDetails(part: string, issue: z.core.$ZodIssue): ErrorDetail[] {
  const detail = (path: PropertyKey[], message: string) => ({
    path: printable(path.map(String).join('.') || part),
    message,
  });
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, 20).map((key) => detail([...issue.path, key], 'Unknown field'));
  return [detail(issue.path, issue.message)];
}

/** Makes a field name that may come from the caller safe to return: no control characters, at most 100 characters. */
export const printable = (name: string) =>
  name
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '�')
    .slice(0, 100);

function sentence(details: ErrorDetail[]): string {
  const [first, ...rest] = details;
  const others = rest.length > 0 ? ` (and ${rest.length} more)` : '';
  return `${first?.path}: ${first?.message}${others}`;
}
