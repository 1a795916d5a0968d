import { isDeepStrictEqual } from 'node:util';
import { fail, type Failure } from './failure.ts';

/**
 * Checks whether a record changed since the user loaded it (a lost update is a 409). Returns undefined if not.
 * Otherwise the Failure lists each field whose sent and stored values differ, with both values, and the stored version
 * under `updatedAt`.
 */
export function editConflict(
  what: string,
  stored: Record<string, unknown> & { updatedAt: string },
  sent: Record<string, unknown>,
  seen: string | undefined,
): Failure | undefined {
  if (seen === undefined || Date.parse(seen) === Date.parse(stored.updatedAt)) return undefined;
  const differing = Object.keys(sent)
    .filter(
      (key) => key !== 'updatedAt' && sent[key] !== undefined && !isDeepStrictEqual(sent[key], stored[key]),
    )
    .map((key) => ({
      path: key,
      message: 'Was changed by someone else',
      current: stored[key],
      yours: sent[key],
    }));
  return fail('EDIT_CONFLICT', `This ${what} was changed by someone else while you were editing it.`, {
    details: [
      ...differing,
      { path: 'updatedAt', message: 'The stored version', current: stored.updatedAt, yours: seen },
    ],
  });
}
