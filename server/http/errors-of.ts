import { z } from 'zod';
import type { ErrorCode } from '../../contract/errors.ts';
import { shownVersion } from '../../contract/common.ts';
import type { Route } from '../../contract/route.ts';

const versionsIn = ({ body, query }: Route): unknown[] =>
  [body, query].flatMap((part) =>
    part instanceof z.ZodObject && 'updatedAt' in part.shape ? [part.shape['updatedAt']] : [],
  );

/** Whether the call compares the version that an edit started from: `updatedAt`, or the header If-Match. */
export const comparesVersions = (route: Route): boolean => versionsIn(route).length > 0;

const mergesEdits = (route: Route): boolean => versionsIn(route).some((version) => version !== shownVersion);

/** Whether the path names a record, which may not exist: `/api/customers/{id}`. */
const namesRecord = ({ path }: Route): boolean => /id\}/i.test(path);

/** Every error that the call can return: its own, and those that its method, path and input imply. */
export const errorsOf = (route: Route): ErrorCode[] => [
  ...new Set<ErrorCode>([
    'INVALID_INPUT',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'REQUEST_TIMEOUT',
    'TOO_MANY_REQUESTS',
    'INTERNAL',
    'UNAVAILABLE',
    ...(route.method === 'GET' ? [] : (['CROSS_SITE', 'TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(route.method === 'GET' || route.changesNothing ? [] : (['IDEMPOTENCY_MISMATCH'] as const)),
    ...(namesRecord(route) ? (['NOT_FOUND'] as const) : []),
    ...(mergesEdits(route) ? (['EDIT_CONFLICT'] as const) : []),
    ...(route.errors ?? []),
  ]),
];
