import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';

/** How long a request may take to arrive, in milliseconds. */
export type ArrivalLimits = {
  /** Until the headers are whole. */
  headersMs: number;
  /** From there until a JSON body is whole. */
  jsonMs: number;
  /** Binaries may take as long as they like while at least `windowBytes` arrive in each window. */
  windowMs: number;
  windowBytes: number;
  /** What still comes of a request that was answered is read for so long: hanging up at once could cost the answer. */
  lingerMs: number;
  /** How often requests that are not whole are looked at. */
  lookMs: number;
  /** Bytes that large JSON bodies under way may need together; the next one is refused. */
  jsonBytesAtOnce: number;
};

/** The longest JSON body, in bytes. */
export const mostJsonBytes = 1024 * 1024;
/** Up to here a body is always taken: many large ones must not keep anybody from signing in or validating. */
const smallJsonBytes = 64 * 1024;

/** Slow enough for the worst hospital line, and a sender who drips is gone within half a minute. */
export const arrivalLimits: ArrivalLimits = {
  headersMs: 15_000,
  jsonMs: 20_000,
  windowMs: 20_000,
  windowBytes: 32 * 1024,
  lingerMs: 15_000,
  lookMs: 1000,
  jsonBytesAtOnce: 64 * mostJsonBytes,
};

/** The body did not arrive in time; answered 408. */
export class ArrivedTooSlowly extends Error {}
/** Bodies of other requests need the memory that there is for them; answered 503. */
export class TooManyBodies extends Error {}

/** A request whose body is not whole yet. */
type Arrival = {
  raw: IncomingMessage;
  reply: FastifyReply;
  /** Of a binary; JSON is read by the framework. */
  body: PassThrough | undefined;
  /** When the headers were whole, or the present window began, and how much the connection had brought by then. */
  since: number;
  bytes: number;
  isRefused: boolean;
  answeredAt: number | undefined;
};

/**
 * Ends bodies that drip, and reads what is left of those that were refused. `open` gives the body of a binary to
 * its reader: apart from the connection, so that it can fail while the connection is still there for the answer.
 */
export function watchArrivals(app: FastifyInstance, limits: ArrivalLimits) {
  const arrivals = new Map<IncomingMessage, Arrival>();
  let jsonBytes = 0;

  app.addHook('onRequest', async ({ raw }: FastifyRequest, reply: FastifyReply) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
    if (encoding === undefined && (length === undefined || length === '0')) return;
    const began = { since: performance.now(), bytes: raw.socket.bytesRead };
    arrivals.set(raw, { raw, reply, body: undefined, ...began, isRefused: false, answeredAt: undefined });
    const held = heldBy(raw.headers);
    const isTooMuch = held > 0 && jsonBytes + held > limits.jsonBytesAtOnce;
    if (!isTooMuch) jsonBytes += held;
    const whole = () => {
      if (arrivals.delete(raw) && !isTooMuch) jsonBytes -= held;
    };
    raw.once('end', whole).once('close', whole);
    if (isTooMuch) throw new TooManyBodies();
  });
  app.addHook('onResponse', async ({ raw }) => {
    const arrival = arrivals.get(raw);
    if (!arrival) return;
    arrival.answeredAt = performance.now();
    raw.unpipe().resume();
  });
  const looking = setInterval(() => {
    for (const arrival of arrivals.values()) look(arrival, performance.now(), limits);
  }, limits.lookMs).unref();
  app.addHook('onClose', async () => clearInterval(looking));

  function open(raw: IncomingMessage): Readable {
    const body = new PassThrough({ highWaterMark: 64 * 1024 });
    // whoever reads it hears of the end; an error that nobody waits for must not end the process
    body.on('error', () => undefined);
    raw.once('close', () => raw.complete || body.destroy(new Error('The sender is gone')));
    const arrival = arrivals.get(raw);
    if (arrival) arrival.body = body;
    return raw.pipe(body);
  }
  return { open };
}

/** Bytes that a body may need until it is whole: binaries are handed on as they arrive, and small ones are not counted. */
function heldBy({ 'content-type': type = '', 'content-length': length }: IncomingHttpHeaders): number {
  if (/^(application\/octet-stream|multipart\/form-data)/i.test(type)) return 0;
  const bytes = Math.min(Number(length ?? mostJsonBytes), mostJsonBytes);
  return bytes > smallJsonBytes ? bytes : 0;
}

function look(arrival: Arrival, now: number, limits: ArrivalLimits): void {
  const { raw, body, answeredAt } = arrival;
  if (answeredAt !== undefined) {
    if (now - answeredAt > limits.lingerMs) raw.destroy();
    return;
  }
  if (raw.complete || arrival.isRefused || now - arrival.since < (body ? limits.windowMs : limits.jsonMs))
    return;
  // what we have not taken yet is not the sender's fault
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

/** Sends the last words to a connection, and hangs up when the other side had the time to read them. */
export function hangUp(socket: Socket, lastWords: string, { lingerMs }: ArrivalLimits): void {
  socket.end(lastWords);
  socket.resume();
  const giveUp = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(giveUp));
}
