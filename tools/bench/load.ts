import autocannon from 'autocannon';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';

export type Target = {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** The path, body and further headers of the nth request. */
  next?: (n: number) => { path?: string; body?: unknown; headers?: Record<string, string> };
  connections?: number;
};

export type Measured = { perSecond: number; p50: number; p99: number };

/** Sends requests to one target for some seconds, on 32 connections by default. Throws if any response is an error. */
export async function load(target: Target, seconds: number): Promise<Measured> {
  let n = 0;
  const { next } = target;
  const result = await autocannon({
    url: target.url,
    connections: target.connections ?? 32,
    duration: seconds,
    method: target.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...target.headers },
    ...(next
      ? {
          requests: [
            {
              setupRequest: (request: autocannon.Request) => {
                const { path, body, headers } = next(n++);
                return {
                  ...request,
                  ...(headers ? { headers: { ...request.headers, ...headers } } : {}),
                  ...(path ? { path } : {}),
                  ...(body ? { body: JSON.stringify(body) } : {}),
                };
              },
            },
          ],
        }
      : {}),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${target.url}: ${result.non2xx} error responses, ${result.errors} connection errors`);
  }
  return { perSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

/** One user who waits for each answer: milliseconds, and the number of calls, at least three. Throws on an error. */
export async function oneByOne(target: Target, seconds: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (times.length < 3 || performance.now() < until) {
    const started = performance.now();
    await send(target, times.length, agent);
    times.push(performance.now() - started);
  }
  agent.destroy();
  return { ...shares(times), calls: times.length };
}

/**
 * Sends requests at a constant rate for some seconds, on 32 connections. Milliseconds count from when a request was due, so
 * that one that waits for a connection is slow. Throws on an error.
 */
export async function steadily(target: Target, perSecond: number, seconds: number): Promise<Measured> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
  const times: number[] = [];
  const start = performance.now();
  let n = 0;
  const connection = async () => {
    while (n < perSecond * seconds) {
      const nth = n++;
      const due = start + (nth * 1000) / perSecond;
      if (due > performance.now()) await setTimeout(due - performance.now());
      await send(target, nth, agent);
      times.push(performance.now() - due);
    }
  };
  await Promise.all(Array.from({ length: 32 }, connection));
  agent.destroy();
  return { perSecond: (1000 * times.length) / (performance.now() - start), ...shares(times) };
}

async function send({ url, method = 'GET', headers = {}, next }: Target, n: number, agent: http.Agent) {
  const { path = '', body, headers: more } = next?.(n) ?? {};
  const sent = http.request(new URL(path, url), {
    agent,
    method,
    headers: { 'content-type': 'application/json', ...headers, ...more },
  });
  sent.end(body ? JSON.stringify(body) : undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  if (response.statusCode === 503) throw new GivenUp(path);
  if (response.statusCode! >= 300) throw new Error(`${path}: ${response.statusCode}`);
}

/** The service gave up, as after a minute in the database. */
export class GivenUp extends Error {}

/** The time that this share of the times is below: 0.5 is the median. */
export const atShare = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(share * times.length)]!;

function shares(times: readonly number[]): { p50: number; p99: number } {
  const part = (share: number) => Math.round(10 * atShare(times, share)) / 10;
  return { p50: part(0.5), p99: part(0.99) };
}

/** The median of three rounds of each target, in turn so that a busy machine affects all. */
export async function alternate(targets: readonly Target[], seconds: number): Promise<Measured[]> {
  for (const [i, target] of targets.entries()) await load(target, i === 0 ? 1 : 2);
  const rounds = targets.map((): Measured[] => []);
  for (let round = 0; round < 3; round++)
    for (const [i, target] of targets.entries()) rounds[i]!.push(await load(target, seconds));
  return rounds.map(medianOf);
}

export async function compare(
  bare: Target,
  ours: Target,
  seconds: number,
): Promise<{ bare: Measured; ours: Measured }> {
  const [first, second] = await alternate([bare, ours], seconds);
  return { bare: first!, ours: second! };
}

export function medianOf(rounds: Measured[]): Measured {
  return rounds.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(rounds.length / 2)]!;
}
