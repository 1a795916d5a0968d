import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';
import { isRelayMessage, relay, type ProcessMetrics } from '../workers/relay.ts';

/** How long the other workers are waited for; the primary has waited for them before. */
const patienceMs = 5000;

type Metric = MetricObjectWithValues<MetricValue<string>>;

/**
 * The text for Prometheus: of this process, or, where it is one of several workers, of all of them in one. Whichever
 * worker the scrape meets asks the primary for what the others have.
 */
export function serveTogether(register: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => register.metrics();
  const asked = new Map<string, (all: ProcessMetrics[]) => void>();
  process.on('message', (message) => {
    if (!isRelayMessage(message)) return;
    if (message.relay === 'collect') void answer(message.id);
    else if (message.relay === 'all') asked.get(message.id)?.(message.metrics);
  });

  async function answer(id: string): Promise<void> {
    const metrics = (await register.getMetricsAsJSON()).map(worstOf);
    process.send?.(relay({ relay: 'collected', id, metrics }));
  }

  return async () => {
    const id = randomUUID();
    const all = await new Promise<ProcessMetrics[] | undefined>((resolve) => {
      const timer = setTimeout(resolve, patienceMs, undefined);
      asked.set(id, (metrics) => {
        clearTimeout(timer);
        resolve(metrics);
      });
      process.send?.(relay({ relay: 'ask', id }));
    });
    asked.delete(id);
    return all ? AggregatorRegistry.aggregate(all).metrics() : register.metrics();
  };
}

/** Of the lag of several event loops the longest says something; the mean would hide it. */
const worstOf = (metric: Metric): Metric =>
  metric.name.startsWith('nodejs_eventloop_lag') ? { ...metric, aggregator: 'max' } : metric;
