import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import type { Route, RouteAnswer, RouteInput } from '../../contract/route.ts';
import type { Caller } from '../caller.ts';
import type { Change } from '../change.ts';
import type { Failure } from '../failure.ts';

/** A cookie of this call; what is set or cleared goes out with the answer. */
export type Cookie = { value: string | undefined; set(value: string): void; clear(): void };

/** A file instead of an envelope. */
export type CsvFile = { fileName: string; stream: Readable };

/** What a handler receives: checked input, who calls, and the cookie. */
export type Call<R extends Route> = RouteInput<R> & {
  by: Caller;
  /** That of the session. */
  cookie: Cookie;
  /** That by which a browser is known where somebody signed in before. */
  device: Cookie;
  bearer: string | undefined;
  /** The exchange itself, for a route that is `raw`. */
  http: { request: FastifyRequest; reply: FastifyReply };
  /** The body of a route with `bodyKind`, as it arrives, and its content type. */
  stream: { readable: Readable; contentType: string } | undefined;
  /** The version of the record that an edit began from: `updatedAt` of the body, else that of `If-Match`. */
  seen: string | undefined;
};

/** A raw handler has answered through `call.http.reply` when it returns. */
type Answer<R extends Route> = R extends { csv: true }
  ? CsvFile
  : R extends { raw: true }
    ? FastifyReply
    : RouteAnswer<R>;

/** Reads, or sees to its own transactions. */
export type PlainHandler<R extends Route> = (call: Call<R>) => Promise<Answer<R> | Failure>;

/** Runs in a transaction that the adapter opens; a Failure rolls it back. */
export type ChangeHandler<R extends Route> = {
  /** What must not hold a connection, such as hashing a password; its Failure is the answer. */
  prepare?: (call: Call<R>) => Promise<unknown>;
  change: (change: Change, call: Call<R>, prepared: unknown) => Promise<Answer<R> | Failure>;
};

export type Handler<R extends Route> = PlainHandler<R> | ChangeHandler<R>;

/** Marks a handler as one change: it runs in one transaction with its audit entry, and honors `Idempotency-Key`. */
export const inChange = <R extends Route>(
  run: (change: Change, call: Call<R>) => Promise<Answer<R> | Failure>,
): ChangeHandler<R> => ({ change: run });

/**
 * Like `inChange`, for one that takes long to prepare, such as hashing a password or asking another server: that is
 * done before the transaction opens.
 */
export const inChangeAfter = <R extends Route, P>(
  prepare: (call: Call<R>) => Promise<P | Failure>,
  run: (change: Change, call: Call<R>, prepared: P) => Promise<Answer<R> | Failure>,
): ChangeHandler<R> => ({ prepare, change: (change, call, prepared) => run(change, call, prepared as P) });

/** A route with its handler, types checked against each other. */
export type Implemented = { route: Route; handler: Handler<Route> };

/** Ties each route of a feature to its handler; the compiler refuses a missing one. */
export function implement<const C extends Record<string, Route>>(
  routes: C,
  handlers: { [K in keyof C]: Handler<C[K]> },
): Implemented[] {
  return Object.entries(routes).map(([name, route]) => ({
    route,
    handler: handlers[name] as never,
  }));
}
