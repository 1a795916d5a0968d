import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';

/** Limits for receiving requests, and for reading their responses; times in milliseconds. */
export type ArrivalLimits = {
  /** Until the headers are complete. */
  headersMs: number;
  /** From then until a JSON body is complete. */
  jsonMs: number;
  /** The upload of a binary may take any time while at least `windowBytes` arrive in each window. */
  windowMs: number;
  windowBytes: number;
  /** How long the rest of a request is read after its response: closing immediately could lose the response. */
  lingerMs: number;
  /** Requests of one connection that may wait for the response before theirs; browsers send none ahead. */
  waitingRequests: number;
  /** Until a client that reads nothing of a response is disconnected. */
  unreadMs: number;
  /** Interval of the checks. */
  lookMs: number;
  /** Bytes that all large JSON bodies in progress may need; one beyond them is refused. */
  jsonBytesAtOnce: number;
};

/** Maximum size of a JSON body, in bytes. */
export const mostJsonBytes = 1024 * 1024;
/** What needs no more memory is always accepted: many large bodies must not block sign-in or validation. */
const smallJsonBytes = 64 * 1024;
/** What Node needs beside the bytes of each piece, which a client may send one byte at a time. */
const pieceBytes = 512;

/** Long enough for the slowest hospital networks; a slow-drip client is disconnected within half a minute. */
export const arrivalLimits: ArrivalLimits = {
  headersMs: 15_000,
  jsonMs: 20_000,
  windowMs: 20_000,
  windowBytes: 32 * 1024,
  lingerMs: 15_000,
  waitingRequests: 16,
  // a download is written in pieces of 512 KB, which take 320 s at the least rate of an upload
  unreadMs: 360_000,
  lookMs: 1000,
  jsonBytesAtOnce: 64 * mostJsonBytes,
};

/** The body did not arrive in time (408). */
export class ArrivedTooSlowly extends Error {}
/** The bodies of other requests use all the memory that is reserved for bodies (503). */
export class TooManyBodies extends Error {}

/** A request whose body is incomplete. */
type Arrival = {
  raw: IncomingMessage;
  /** Bytes and pieces that have arrived of its JSON, and the memory that counts: none of a small or a refused body. */
  received: number;
  pieces: number;
  memory: number;
  /** Only for a binary; Fastify reads JSON. */
  body: PassThrough | undefined;
  /** Start of the current window, first the end of the headers, and the bytes that the socket had read by then. */
  since: number;
  bytes: number;
  isRefused: boolean;
  respondedAt: number | undefined;
};

/**
 * Ends requests that arrive too slowly, and drains the rest of refused ones. `open` returns the body of a binary as a
 * stream that is separate from the connection: it can fail while the connection can still carry the response.
 */
export function watchArrivals(app: FastifyInstance, limits: ArrivalLimits) {
  const arrivals = new Map<IncomingMessage, Arrival>();
  let jsonBytes = 0;

  // Not a hook: an earlier one may refuse, and Fastify refuses some requests without any.
  app.server.prependListener('request', (raw: IncomingMessage, response: ServerResponse) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
    if (encoding === undefined && (length === undefined || length === '0')) return;
    // Node gives a response its connection when the one before it is complete
    if (response.socket) watch(raw, response);
    else response.once('socket', () => watch(raw, response));
  });
  // Node would refuse an unknown `Expect` itself, without that event.
  app.server.on('checkExpectation', (raw, response) => void app.server.emit('request', raw, response));

  function watch(raw: IncomingMessage, response: ServerResponse): void {
    const { socket } = raw;
    const began = { since: performance.now(), bytes: socket.bytesRead };
    const arrival: Arrival = {
      raw,
      received: 0,
      pieces: 0,
      memory: 0,
      body: undefined,
      ...began,
      isRefused: false,
      respondedAt: undefined,
    };
    arrivals.set(raw, arrival);
    const onComplete = () => {
      arrivals.delete(raw);
      keep(arrival, 0);
    };
    raw.once('end', onComplete).once('close', onComplete);
    // called by Node after a response with `Connection: close`: what the client still sends would reset the connection
    socket.destroySoon = () =>
      raw.complete ? Socket.prototype.destroySoon.call(socket) : hangUp(socket, '', limits);
    response.once('finish', () => {
      arrival.respondedAt = performance.now();
      keep(arrival, 0);
      raw.unpipe().resume();
    });
  }

  function keep(arrival: Arrival, bytes: number): void {
    jsonBytes += bytes - arrival.memory;
    arrival.memory = bytes;
  }

  // What has arrived, not what is announced: else connections that send nothing would refuse the bodies of others.
  app.addHook('preParsing', ({ raw }, _reply, payload, done) => {
    const { 'content-type': type = '' } = raw.headers;
    const arrival = arrivals.get(raw);
    // only JSON is not streamed
    if (arrival && /^application\/json/i.test(type))
      payload.on('data', (bytes: Buffer) => count(arrival, bytes.length));
    // Fastify reads it in the same turn
    done(null, payload);
  });

  function count(arrival: Arrival, bytes: number): void {
    if (arrival.isRefused || arrival.respondedAt !== undefined) return;
    arrival.received += bytes;
    arrival.pieces += 1;
    const needed = arrival.received + arrival.pieces * pieceBytes;
    // of one that is too large, Fastify keeps nothing
    keep(arrival, needed > smallJsonBytes && arrival.received <= mostJsonBytes ? needed : 0);
    if (jsonBytes <= limits.jsonBytesAtOnce) return;
    keep(arrival, 0);
    refuse(arrival, new TooManyBodies());
  }

  const timer = setInterval(() => {
    for (const arrival of arrivals.values()) check(arrival, performance.now(), limits);
  }, limits.lookMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));

  function open(raw: IncomingMessage): Readable {
    const body = new PassThrough({ highWaterMark: 64 * 1024 });
    // the reader gets the error; without a reader it must not crash the process
    body.on('error', () => undefined);
    // Node drops what it has received and not yet passed on when the connection ends
    raw.once('close', () => raw.readableEnded || body.destroy(new Error('The client disconnected')));
    const arrival = arrivals.get(raw);
    if (arrival) arrival.body = body;
    return raw.pipe(body);
  }
  return { open };
}

function check(arrival: Arrival, now: number, limits: ArrivalLimits): void {
  const { raw, body, respondedAt } = arrival;
  if (respondedAt !== undefined) {
    if (now - respondedAt > limits.lingerMs) raw.destroy();
    return;
  }
  if (raw.complete || arrival.isRefused || now - arrival.since < (body ? limits.windowMs : limits.jsonMs))
    return;
  // what we have not read yet is not the client's delay
  const isWaitingForUs = raw.readableLength > 0 || body?.writableNeedDrain === true;
  const arrived = raw.socket.bytesRead - arrival.bytes;
  if (body && (isWaitingForUs || arrived >= limits.windowBytes)) {
    [arrival.since, arrival.bytes] = [now, raw.socket.bytesRead];
    return;
  }
  refuse(arrival, new ArrivedTooSlowly());
}

/** Ends the reading of a body with an error, which becomes the response. */
function refuse(arrival: Arrival, error: Error): void {
  const { raw, body } = arrival;
  arrival.isRefused = true;
  if (body) body.destroy(error);
  else if (raw.listenerCount('error') > 0) raw.emit('error', error);
  else raw.destroy();
}

/** Sends a last response and closes the connection when the client had the time to read it. */
export function hangUp(socket: Socket, response: string, { lingerMs }: ArrivalLimits): void {
  socket.end(response);
  socket.resume();
  const giveUp = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(giveUp));
}
