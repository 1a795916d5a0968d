import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import type { Route, RouteAnswer, RouteInput } from '../../contract/route.ts';
import type { Caller } from '../caller.ts';
import type { Change } from '../change.ts';
import type { Failure } from '../failure.ts';

/** A cookie of this call; changes are sent with the response. */
export type Cookie = { value: string | undefined; set(value: string): void; clear(): void };

/** A file instead of an envelope: CSV, or JSON for a route with `file`. */
export type DownloadFile = { fileName: string; stream: Readable };

/** The input of a handler: validated parameters, caller, and cookies. */
export type Call<R extends Route> = RouteInput<R> & {
  by: Caller;
  cookie: Cookie;
  /** The device cookie, which identifies a browser with earlier sign-ins. */
  device: Cookie;
  /** Request and reply, for a route that is `raw`. */
  http: { request: FastifyRequest; reply: FastifyReply };
  /** The body stream of a route with `bodyKind`, and its content type. */
  stream: { readable: Readable; contentType: string } | undefined;
  /** The version of the record that an edit started from: `updatedAt` of the body or the query, else that of `If-Match`. */
  seen: string | undefined;
};

/** A raw handler has sent its response through `call.http.reply` when it returns. */
type Answer<R extends Route> = R extends { csv: true } | { file: object }
  ? DownloadFile
  : R extends { raw: object }
    ? FastifyReply
    : RouteAnswer<R>;

/** Only reads, or manages its own transactions. */
type PlainHandler<R extends Route> = (call: Call<R>) => Promise<Answer<R> | Failure>;

/** Runs in a transaction that the adapter opens; a Failure rolls it back. */
export type ChangeHandler<R extends Route> = {
  /** Work that must not hold a connection, such as hashing a password; its Failure is the response. */
  prepare?: (call: Call<R>) => Promise<unknown>;
  change: (change: Change, call: Call<R>, prepared: unknown) => Promise<Answer<R> | Failure>;
  /** Gives back what `prepare` reserved, where no change that may be committed uses it; handles its own errors. */
  giveBack?: (prepared: never) => Promise<void>;
};

export type Handler<R extends Route> = R extends { changesNothing: true }
  ? PlainHandler<R>
  : PlainHandler<R> | ChangeHandler<R>;

/** Marks a handler as one change: it runs in one transaction with its audit entry, and supports `Idempotency-Key`. */
export const inChange = <R extends Route>(
  run: (change: Change, call: Call<R>) => Promise<Answer<R> | Failure>,
): ChangeHandler<R> => ({ change: run });

/**
 * Like `inChange`, with slow preparation before the transaction opens, such as hashing a password or calling another
 * server.
 */
export const inChangeAfter = <R extends Route, P>(
  prepare: (call: Call<R>) => Promise<P | Failure>,
  run: (change: Change, call: Call<R>, prepared: P) => Promise<Answer<R> | Failure>,
  giveBack?: (prepared: P) => Promise<void>,
): ChangeHandler<R> => ({
  prepare,
  change: (change, call, prepared) => run(change, call, prepared as P),
  ...(giveBack && { giveBack }),
});

/** A route with its handler, type-checked against each other. */
export type Implemented = { route: Route; handler: Handler<Route> };

/** Binds each route of a feature to its handler; the compiler rejects a missing one. */
export function implement<const C extends Record<string, Route>>(
  routes: C,
  handlers: { [K in keyof C]: Handler<C[K]> },
): Implemented[] {
  return Object.entries(routes).map(([name, route]) => ({
    route,
    handler: handlers[name] as never,
  }));
}
