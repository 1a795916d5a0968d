import autocannon from 'autocannon';

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

/** The median of three rounds of each target, alternating so that a busy machine affects both. */
export async function compare(
  bare: Target,
  ours: Target,
  seconds: number,
): Promise<{ bare: Measured; ours: Measured }> {
  await load(bare, 1);
  await load(ours, 2);
  const rounds = { bare: [] as Measured[], ours: [] as Measured[] };
  for (let round = 0; round < 3; round++) {
    rounds.bare.push(await load(bare, seconds));
    rounds.ours.push(await load(ours, seconds));
  }
  return { bare: median(rounds.bare), ours: median(rounds.ours) };
}

function median(rounds: Measured[]): Measured {
  return rounds.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(rounds.length / 2)]!;
}
