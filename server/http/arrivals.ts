import type { FastifyInstance } from 'fastify';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
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
  /** Total bytes of the large JSON bodies in progress; the next one is refused. */
  jsonBytesAtOnce: number;
};

/** Maximum size of a JSON body, in bytes. */
export const mostJsonBytes = 1024 * 1024;
/** Bodies up to this size are always accepted: many large ones must not block sign-in or validation. */
const smallJsonBytes = 64 * 1024;

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
  /** Bytes of memory that are reserved for it. */
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
      memory: 0,
      body: undefined,
      ...began,
      isRefused: false,
      respondedAt: undefined,
    };
    arrivals.set(raw, arrival);
    const onComplete = () => {
      if (arrivals.delete(raw)) jsonBytes -= arrival.memory;
    };
    raw.once('end', onComplete).once('close', onComplete);
    // called by Node after a response with `Connection: close`: what the client still sends would reset the connection
    socket.destroySoon = () =>
      raw.complete ? Socket.prototype.destroySoon.call(socket) : hangUp(socket, '', limits);
    response.once('finish', () => {
      arrival.respondedAt = performance.now();
      raw.unpipe().resume();
    });
  }

  app.addHook('onRequest', async ({ raw }) => {
    const arrival = arrivals.get(raw);
    if (!arrival) return;
    const memory = memoryOf(raw.headers);
    if (jsonBytes + memory > limits.jsonBytesAtOnce) throw new TooManyBodies();
    arrival.memory = memory;
    jsonBytes += memory;
  });
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

/** Memory in bytes that a body may need until it is complete: only JSON is not streamed, small bodies are not counted. */
function memoryOf({ 'content-type': type = '', 'content-length': length }: IncomingHttpHeaders): number {
  if (!/^application\/json/i.test(type)) return 0;
  const bytes = Math.min(Number(length ?? mostJsonBytes), mostJsonBytes);
  return bytes > smallJsonBytes ? bytes : 0;
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
  arrival.isRefused = true;
  if (body) body.destroy(new ArrivedTooSlowly());
  else if (raw.listenerCount('error') > 0) raw.emit('error', new ArrivedTooSlowly());
  else raw.destroy();
}

/** Sends a last response and closes the connection when the client had the time to read it. */
export function hangUp(socket: Socket, response: string, { lingerMs }: ArrivalLimits): void {
  socket.end(response);
  socket.resume();
  const giveUp = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(giveUp));
}
