import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import { permit, type Action, type Needs, type Permission, type Resource } from './permissions.ts';

/** Scopes of an API key: validating licenses, update feeds and events, publishing releases from CI. */
export const apiKeyScopes = ['validate', 'updates', 'releases'] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** Scopes of a machine token. */
export type MachineScope = Exclude<ApiKeyScope, 'releases'>;

/**
 * Who may make a call: anyone, any signed-in user, staff with the permissions that it needs, or (`apiKey`) also a desktop
 * program with a key or a machine token of that scope.
 */
export type Access =
  { kind: 'public' } | { kind: 'signedIn' } | { kind: 'staff'; needs: Needs; apiKey?: ApiKeyScope };

export const anyone: Access = { kind: 'public' };
export const signedIn: Access = { kind: 'signedIn' };

/** Staff who hold `action` on `resource`. */
export const staffWith = (resource: Resource, action: Action): Access =>
  staffWithAny(permit(resource, action));

/** Staff who hold at least one of the permissions. */
export const staffWithAny = (...permissions: Permission[]): Access => ({
  kind: 'staff',
  needs: [permissions],
});

/** Staff who hold all of the permissions. */
export const staffWithAll = (...permissions: Permission[]): Access => ({
  kind: 'staff',
  needs: permissions.map((one) => [one]),
});

/** Staff with the permission, or an API key or a machine token of the scope. */
export const apiKeyOrStaffWith = (apiKey: ApiKeyScope, resource: Resource, action: Action): Access => ({
  kind: 'staff',
  needs: [[permit(resource, action)]],
  apiKey,
});

/** The permissions that staff need for the call; empty for a call that needs none. */
export const needsOf = (access: Access): Needs => (access.kind === 'staff' ? access.needs : []);

type Schema = z.ZodType;

/** The media types of bodies that are not JSON. */
export const mediaTypes = { bytes: 'application/octet-stream', multipart: 'multipart/form-data' } as const;

/**
 * One call, as data: the single source for server routing, validation, authorization, OpenAPI and the typed client.
 * `answer` is the response's `data` (none: 204), `meta` the list's `meta` next to it. `csv` marks a call that returns a
 * file instead of the envelope, `file` one that returns a JSON file of that shape. `errors` lists the errors that a call
 * can return in addition to those that its method, path and input imply (`server/http/errors-of.ts`).
 */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters in braces, as the spec writes them: `/api/customers/{id}`. */
  path: string;
  /** The same call under another path: the spec's relative path, or a client's variant. */
  alias?: string;
  summary: string;
  access: Access;
  params?: Schema;
  query?: Schema;
  body?: Schema;
  /** The spec's call has no body: without one, or with an empty one, it is made as with `{}`. */
  bodyOptional?: true;
  /** The spec leaves the body of the call open: any body is accepted and ignored. */
  anyBody?: true;
  /** A body that is not JSON: the handler reads the stream itself. */
  bodyKind?: keyof typeof mediaTypes;
  answer?: Schema;
  meta?: Schema;
  csv?: true;
  file?: Schema;
  /**
   * The handler writes the response itself, in the format that its clients expect: update feeds, binaries. The media type
   * of each status, null where it has no body.
   */
  raw?: Readonly<Record<number, string | null>>;
  /** A POST that only reads: what it asks for is too long for an address. */
  changesNothing?: true;
  /** Clients that cannot set a header may send the API key as `key`, or the machine token as `token`, in the query. */
  apiKeyInQuery?: true;
  /** A machine token counts also while its license or customer is not active: the answer itself says so. */
  evenUnlicensed?: true;
  /**
   * The response holds a secret: it is stored encrypted for a repeated Idempotency-Key of its caller. If the call is
   * public, it is not stored, and the repetition gets an error.
   */
  shownOnce?: true;
  /** HTTP status of a success other than 200 or (without an answer) 204. */
  status?: 201;
  errors?: readonly ErrorCode[];
};

/** What the built console knows of a call (tools/console-contract.ts); of `meta` only that there is one. */
export const consoleFields = ['method', 'path', 'access', 'meta', 'changesNothing', 'shownOnce'] as const;

/** A call as the console may read it. */
export type ConsoleRoute = Pick<Route, (typeof consoleFields)[number]>;

/** A call, with its exact types, so that client and handler know its parameters and its response. */
export const route = <const R extends Omit<Route, 'method' | 'path'>>(
  method: Route['method'],
  path: Route['path'],
  definition: R,
) => ({ method, path, ...definition });

type Out<S> = S extends z.ZodType ? z.output<S> : undefined;
type In<S> = S extends z.ZodType ? z.input<S> : undefined;

/** A handler's input, validated and transformed. */
export type RouteInput<R extends Route> = {
  params: Out<R['params']>;
  query: Out<R['query']>;
  body: Out<R['body']>;
};

/** A handler's result, before the envelope. */
export type RouteAnswer<R extends Route> = R['meta'] extends Schema
  ? { data: Out<R['answer']>; meta: Out<R['meta']> }
  : Out<R['answer']>;

/** A client's input: only the parts that the call takes. */
export type RouteRequest<R extends Route> = (R['params'] extends Schema
  ? { params: In<R['params']> }
  : unknown) &
  (R['query'] extends Schema ? { query?: In<R['query']> } : unknown) &
  (R['body'] extends Schema
    ? R['bodyOptional'] extends true
      ? { body?: In<R['body']> | undefined }
      : { body: In<R['body']> }
    : unknown);
