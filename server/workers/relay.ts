import cluster, { type Worker } from 'node:cluster';

/** The metrics of one process, from `getMetricsAsJSON`. */
export type ProcessMetrics = { name: string; type: unknown }[];

/** Messages about metrics between the workers and the primary. */
export type RelayMessage =
  | { relay: 'ask'; id: string }
  | { relay: 'collect'; id: string }
  | { relay: 'collected'; id: string; metrics: ProcessMetrics }
  | { relay: 'all'; id: string; metrics: ProcessMetrics[] };

export const isRelayMessage = (message: unknown): message is RelayMessage =>
  typeof message === 'object' && message !== null && 'relay' in message;

/** If a worker is busy for longer, its previous metrics are used. */
const timeoutMs = 2000;

/**
 * Collects the metrics of all workers in the primary, for the worker that was scraped. The last known counters of a
 * worker that exited stay in the sum, because Prometheus takes a counter that falls for a restart.
 */
export function relayMetrics(): void {
  const latest = new Map<number, ProcessMetrics>();
  const collecting = new Map<string, { missing: Set<number>; done: () => void }>();
  let exited: ProcessMetrics[] = [];

  function collect(requester: Worker, id: string): void {
    const workers = Object.values(cluster.workers ?? {}).filter((one) => one?.isConnected()) as Worker[];
    const done = () => {
      clearTimeout(timer);
      if (!collecting.delete(id) || !requester.isConnected()) return;
      requester.send({ relay: 'all', id, metrics: [...latest.values(), ...exited] } satisfies RelayMessage);
    };
    const timer = setTimeout(done, timeoutMs);
    collecting.set(id, { missing: new Set(workers.map((one) => one.id)), done });
    for (const worker of workers) worker.send({ relay: 'collect', id } satisfies RelayMessage);
  }

  function onCollected(workerId: number, id: string): void {
    const round = collecting.get(id);
    round?.missing.delete(workerId);
    if (round?.missing.size === 0) round.done();
  }

  cluster.on('message', (worker, message) => {
    if (!isRelayMessage(message)) return;
    if (message.relay === 'ask') collect(worker, message.id);
    if (message.relay !== 'collected') return;
    latest.set(worker.id, message.metrics);
    onCollected(worker.id, message.id);
  });
  cluster.on('exit', (worker) => {
    const counted = latest.get(worker.id)?.filter(({ type }) => type === 'counter' || type === 'histogram');
    latest.delete(worker.id);
    for (const id of collecting.keys()) onCollected(worker.id, id);
    if (counted) void keep(counted);
  });

  async function keep(counted: ProcessMetrics): Promise<void> {
    exited.push(counted);
    // imported when needed, to keep the memory of the primary small
    const { AggregatorRegistry } = await import('prom-client');
    const sum = AggregatorRegistry.aggregate(exited);
    exited = [await sum.getMetricsAsJSON()];
  }
}
