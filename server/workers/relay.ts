import cluster, { type Worker } from 'node:cluster';

/** The metrics of one process, as its registry gives them. */
export type ProcessMetrics = { name: string; type: unknown }[];

/** What workers and their primary say to each other about metrics. */
export type RelayMessage =
  | { relay: 'ask'; id: string }
  | { relay: 'collect'; id: string }
  | { relay: 'collected'; id: string; metrics: ProcessMetrics }
  | { relay: 'all'; id: string; metrics: ProcessMetrics[] };

export const relay = (message: RelayMessage) => message;
export const isRelayMessage = (message: unknown): message is RelayMessage =>
  typeof message === 'object' && message !== null && 'relay' in message;

/** A worker that is busy for longer is counted with what it had before. */
const patienceMs = 2000;

/**
 * The primary's part in the metrics: it hands those of all workers to the one that was asked. What a worker that ended
 * had counted stays in the sum, as far as it was told, for a counter that falls is taken for a restart.
 */
export function relayMetrics(): void {
  const latest = new Map<number, ProcessMetrics>();
  const collecting = new Map<string, { missing: Set<number>; done: () => void }>();
  let ended: ProcessMetrics[] = [];

  function collect(asker: Worker, id: string): void {
    const workers = Object.values(cluster.workers ?? {}).filter((one) => one?.isConnected()) as Worker[];
    const done = () => {
      clearTimeout(timer);
      if (!collecting.delete(id) || !asker.isConnected()) return;
      asker.send({ relay: 'all', id, metrics: [...latest.values(), ...ended] } satisfies RelayMessage);
    };
    const timer = setTimeout(done, patienceMs);
    collecting.set(id, { missing: new Set(workers.map((one) => one.id)), done });
    for (const worker of workers) worker.send({ relay: 'collect', id } satisfies RelayMessage);
  }

  function arrived(workerId: number, id: string): void {
    const round = collecting.get(id);
    round?.missing.delete(workerId);
    if (round?.missing.size === 0) round.done();
  }

  cluster.on('message', (worker, message) => {
    if (!isRelayMessage(message)) return;
    if (message.relay === 'ask') collect(worker, message.id);
    if (message.relay !== 'collected') return;
    latest.set(worker.id, message.metrics);
    arrived(worker.id, message.id);
  });
  cluster.on('exit', (worker) => {
    const counted = latest.get(worker.id)?.filter(({ type }) => type === 'counter' || type === 'histogram');
    latest.delete(worker.id);
    for (const id of collecting.keys()) arrived(worker.id, id);
    if (counted) void keep(counted);
  });

  async function keep(counted: ProcessMetrics): Promise<void> {
    ended.push(counted);
    // loaded only here, to keep the primary small
    const { AggregatorRegistry } = await import('prom-client');
    const sum = AggregatorRegistry.aggregate(ended);
    ended = [await sum.getMetricsAsJSON()];
  }
}
