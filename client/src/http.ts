import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Fetch } from './types.ts';

/** An answer of the server, whatever its status. */
export type Reply = {
  status: number;
  text: string;
  /** The header Retry-After in seconds. */
  retryAfter: number | undefined;
};

/** Why there was no answer, in words for a log. */
export type NoReply = { problem: string };

export type Request = { headers?: Record<string, string>; body?: object };

/** Makes a call to the server. Never throws: without an answer, says why. */
export type Http = (method: 'GET' | 'POST', path: string, request?: Request) => Promise<Reply | NoReply>;

type Environment = Record<string, string | undefined>;
type Sent = {
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  signal: AbortSignal;
};

const maxBytes = 4 * 1024 * 1024;
const tooLong = () => new Error('the answer is too long');

/**
 * Calls to one server: through `fetch` where the program hands one in, else with Node's own modules and the proxy that
 * the environment names (HTTPS_PROXY, ALL_PROXY, NO_PROXY). `timeoutMs` is for a whole call.
 */
export function createHttp(
  server: string,
  { fetch, timeoutMs, env }: { fetch: Fetch | undefined; timeoutMs: number; env: Environment },
): Http {
  const base = server.replace(/\/+$/, '');
  return async (method, path, { headers = {}, body } = {}) => {
    const url = new URL(base + path);
    const sent: Sent = {
      method,
      headers: { accept: 'application/json', ...headers },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    };
    if (body) sent.headers['content-type'] = 'application/json';
    try {
      const answer = fetch ? byFetch(fetch, url, sent) : byNode(url, sent, proxyFor(url, env));
      return await Promise.race([answer, endOf(sent.signal)]);
    } catch (error) {
      const why = sent.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error);
      return { problem: `${url.origin}: ${why}` };
    }
  };
}

/** Rejects when the time is over, also where what was called does not hear of it. */
const endOf = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

function reasonOf(error: unknown): string {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: unknown };
  return [message || code || String(error), ...(cause ? [reasonOf(cause)] : [])].join(': ');
}

async function byFetch(fetch: Fetch, url: URL, { method, headers, body, signal }: Sent): Promise<Reply> {
  const response = await fetch(url.href, {
    method,
    headers,
    signal,
    redirect: 'error',
    ...(body === undefined ? {} : { body }),
  });
  const text = await textOf(response);
  return { status: response.status, text, retryAfter: secondsOf(response.headers.get('retry-after')) };
}

/** Throws for an answer that is too long: where there is a stream, without reading all of it. */
async function textOf(response: Awaited<ReturnType<Fetch>>): Promise<string> {
  const { body } = response;
  if (typeof body?.getReader !== 'function') return response.text();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return Buffer.concat(chunks).toString('utf8');
    chunks.push(value);
    size += value.length;
    if (size <= maxBytes) continue;
    // not awaited: it may wait for the server
    reader.cancel().catch(() => undefined);
    throw tooLong();
  }
}

function secondsOf(text: string | null | undefined): number | undefined {
  return text && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/**
 * The proxy for an address, as the environment says: none for http, which is for this computer only, and would show the
 * license key and the token to the proxy. Throws for a proxy that is neither http nor https.
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  const of = (name: string) => env[name.toLowerCase()] || env[name] || '';
  const named = url.protocol === 'https:' && (of('HTTPS_PROXY') || of('ALL_PROXY'));
  if (!named || isDirect(url, of('NO_PROXY'))) return undefined;
  const address = /^[a-z\d]+:\/\//i.test(named) ? named : `http://${named}`;
  // not quoted: it may contain a password
  if (!URL.canParse(address)) throw new Error('the proxy of HTTPS_PROXY or ALL_PROXY is not an address');
  const proxy = new URL(address);
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:')
    throw new Error(`the proxy ${proxy.protocol}//${proxy.host} is neither http nor https`);
  return proxy;
}

/** Whether NO_PROXY names the host, its port, or a domain that it is in. */
function isDirect(url: URL, noProxy: string): boolean {
  const host = hostOf(url);
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = entry, port] = /^(.*?[^:]):(\d+)$/.exec(entry) ?? [];
      if (port && port !== portOf(url)) return false;
      const domain = name.replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
      return name === '*' || host === domain || host.endsWith(`.${domain}`);
    });
}

const portOf = (url: URL) => url.port || '443';

async function byNode(url: URL, sent: Sent, proxy: URL | undefined): Promise<Reply> {
  const { method, headers, signal } = sent;
  const options = { method, headers, signal };
  if (!proxy) return receive(modulesOf(url).request(url, { ...options, agent: false }), sent);
  const socket = await tunnel(url, proxy, signal);
  // an agent, also `false`, would not use the connection
  const createConnection = () => tls.connect({ socket, host: hostOf(url), servername: serverNameOf(url) });
  return receive(https.request(url, { ...options, createConnection }), sent);
}

const modulesOf = ({ protocol }: URL) => (protocol === 'https:' ? https : http);
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '');
/** An address is no server name; the certificate must be for it all the same. */
const serverNameOf = (url: URL) => (isIP(hostOf(url)) ? '' : hostOf(url));

/** The bytes of a text of a URL, one per character, also where they are no UTF-8; a `%` that begins no code stays. */
const bytesOf = (text: string) =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));

function authorizationFor({ username, password }: URL): Record<string, string> {
  const pair = Buffer.from(`${bytesOf(username)}:${bytesOf(password)}`, 'latin1');
  return username ? { 'proxy-authorization': `Basic ${pair.toString('base64')}` } : {};
}

/** A connection to the server through a proxy (CONNECT). */
function tunnel(url: URL, proxy: URL, signal: AbortSignal): Promise<Socket> {
  const target = `${url.hostname}:${portOf(url)}`;
  // Node would decode name and password itself, and refuse a `%` in them
  const address = Object.assign(new URL(proxy), { username: '', password: '' });
  return new Promise((resolve, reject) => {
    modulesOf(proxy)
      .request(address, {
        method: 'CONNECT',
        path: target,
        headers: { host: target, ...authorizationFor(proxy) },
        // else Node compares the certificate of the proxy with the header
        servername: serverNameOf(proxy),
        signal,
        agent: false,
      })
      .once('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
      })
      .once('error', reject)
      .once('close', () => reject(closedEarly()))
      .end();
  });
}

const closedEarly = () => new Error('the connection was closed without an answer');

function receive(request: http.ClientRequest, { body }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    // after an end it changes nothing; another protocol (101) gives neither an answer nor an error
    request.once('close', () => reject(closedEarly()));
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) request.destroy(tooLong());
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString('utf8'),
          retryAfter: secondsOf(response.headers['retry-after']),
        }),
      );
    });
    request.end(body);
  });
}
