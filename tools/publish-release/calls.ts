import type { ErrorBody } from '../../contract/errors.ts';
import type { Route, RouteRequest } from '../../contract/route.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { parsedJson } from '../../contract/text.ts';
import { isFinalStatus, uploads } from '../../contract/uploads.ts';
import { present } from '../../server/invariants.ts';
import type { Options } from './options.ts';

/**
 * Control of the calls: `signal` aborts them, `count` is called with the number of bytes sent, `pauseMs` lie between two
 * attempts, since a server that starts again needs some seconds; `say` gets why, since a wrong address looks the same.
 */
export type Sending = {
  signal: AbortSignal;
  count: (bytes: number) => void;
  pauseMs: number;
  say: (line: string) => void;
};

/** A failed call, with the message of the server; `isFinal` if a retry would fail too. No status: there was no answer. */
export class Refusal extends Error {
  readonly isFinal: boolean;
  readonly status: number | undefined;
  /** Of a POST with a body in pieces: the last one was sent, so that the server may have carried the call out. */
  isSent = false;
  constructor(message: string, isFinal: boolean, status?: number) {
    super(message);
    this.isFinal = isFinal;
    this.status = status;
  }
}

/** Each lasts as long as the server takes, or a proxy on the way waits for it. */
export const mostAttempts = 20;

/** Repeats a call that may be repeated, or of which nothing was carried out, while the server is away. */
export async function whileAway<T>(attempt: () => Promise<T>, waiting: Waiting): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const isAway = error instanceof Refusal && !error.isFinal && !error.isSent;
      if (!isAway || waiting.signal.aborted || attempts === mostAttempts) throw error;
      await pause(error, attempts, waiting);
    }
  }
}

export type Waiting = Pick<Sending, 'signal' | 'pauseMs' | 'say'>;

/** Before the next attempt; ends at once when it is aborted. */
export async function pause(after: unknown, attempts: number, { signal, pauseMs, say }: Waiting) {
  const why = (after as Error).message.replace(/[^.!?]$/, '$&.');
  say(`${why} Trying again (${attempts + 1} of ${mostAttempts})`);
  await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
}

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };
type Answer<R extends Route> = R['answer'] extends z.ZodType ? z.output<R['answer']> : undefined;
export type Calls = ReturnType<typeof callsOf>;

/** Bytes that are written to the connection, and counted, at a time. */
const pieceBytes = 256 * 1024;
const cancelTimeoutMs = 10_000;

/** The API calls to publish a release. */
export function callsOf(
  { server, apiKey }: Pick<Options, 'server' | 'apiKey'>,
  { signal, count }: Pick<Sending, 'signal' | 'count'>,
) {
  async function send(route: Route, path: string, init: Init): Promise<unknown> {
    const headers = { ...init.headers, accept: 'application/json', 'x-api-key': apiKey };
    let status: number;
    let location: string | null;
    let text: string;
    let retryAfter: number;
    try {
      const request = { signal, ...init, method: route.method, headers };
      // a redirect that is followed takes the API key to another server
      const response = await fetch(server + path, { ...request, redirect: 'manual' });
      status = response.status;
      location = response.headers.get('location');
      retryAfter = Number(response.headers.get('retry-after'));
      text = await response.text();
    } catch (error) {
      const hint = isUntrusted(error) ? `. ${howToTrust}` : '';
      throw new Refusal(`${server} cannot be reached: ${reasonOf(error)}${hint}`, isUntrusted(error));
    }
    if (status >= 300 && status <= 399)
      throw new Refusal(
        `${server} redirects to ${location}. Set --server to where the service is`,
        true,
        status,
      );
    if (status < 200 || status > 299) throw refusalOf(status, text, retryAfter);
    const data = (parsedJson(text) as { data?: unknown } | undefined)?.data;
    // of a proxy, such as its sign-in page
    if (route.answer ? !data : status !== 204) throw new Refusal('Invalid response format', false);
    return data;
  }

  /** Sends a body in pieces and counts their bytes; subtracts them again if the call fails. */
  async function stream(route: Route, path: string, source: AsyncIterable<Uint8Array>, type: string) {
    let left = 0;
    let isSent = false;
    const counted = async function* () {
      for await (const bytes of source) {
        yield bytes;
        left += bytes.length;
        count(bytes.length);
      }
      // a PUT may be repeated
      isSent = route.method === 'POST';
    };
    const headers = { 'content-type': type };
    // Node accepts any iterable of bytes, which the DOM types do not allow
    const body = counted() as AsyncIterable<Uint8Array> as BodyInit;
    const init = { headers, body, duplex: 'half' } as Init;
    try {
      return await send(route, path, init);
    } catch (error) {
      count(-left);
      throw Object.assign(error as Refusal, { isSent });
    }
  }

  return {
    json: async <R extends Route>(
      route: R,
      { body }: Pick<RouteRequest<R> & { body: unknown }, 'body'>,
      headers: Record<string, string> = {},
    ) =>
      (await send(route, route.path, {
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })) as Answer<R>,
    async form<R extends Route>(route: R, form: FormData): Promise<Answer<R>> {
      const { headers, body } = new Response(form);
      const type = present(headers.get('content-type'), 'a form sets it');
      return (await stream(route, route.path, present(body, 'a form is a body'), type)) as Answer<R>;
    },
    async chunk(uploadId: string, index: number, bytes: Buffer): Promise<void> {
      const path = uploads.chunk.path.replace('{uploadId}', uploadId).replace('{index}', String(index));
      await stream(uploads.chunk, path, piecesOf(bytes), 'application/octet-stream');
    },
    /**
     * Cancels an upload, also after `signal`; the server removes abandoned uploads itself. False: it is too late, the server
     * makes a release of it, or has; or nobody knows, since there was no answer of the server.
     */
    async cancel(uploadId: string): Promise<boolean> {
      const path = uploads.cancel.path.replace('{uploadId}', uploadId);
      return send(uploads.cancel, path, { signal: AbortSignal.timeout(cancelTimeoutMs) }).then(
        () => true,
        ({ isFinal, status }: Refusal) => isFinal && status !== 409 && status !== 429,
      );
    },
  };
}

async function* piecesOf(bytes: Buffer) {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
}

/** About as long as all attempts wait; what takes longer is the hourly limit of the key. */
const longestWaitSeconds = 60;

function refusalOf(status: number, text: string, retryAfter: number): Refusal {
  const body = parsedJson(text) as Partial<ErrorBody> | undefined;
  const message = body?.error ?? `Upload failed with status ${status}`;
  if (status === 429 && retryAfter > longestWaitSeconds) {
    const advice = `Publish again in ${Math.ceil(retryAfter / 60)} minutes, or with a key that has a higher limit.`;
    return new Refusal(`${message.replace(/[^.!?]$/, '$&.')} ${advice}`, true, status);
  }
  return new Refusal(message, isFinalStatus(status), status);
}

const howToTrust =
  'Where it has a certificate of your own authority, set NODE_EXTRA_CA_CERTS to the file of that.';

/** By the codes of Node for a certificate that does not verify: another attempt would end in the same way. */
const isUntrusted = (error: unknown) =>
  /CERT|^UNABLE_TO_/.test(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? '');

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}
