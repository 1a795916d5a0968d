import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';
import { isRelayMessage, type ProcessMetrics, type RelayMessage } from '../workers/relay.ts';

/** Longer than the primary waits for the workers. */
const timeoutMs = 5000;

type Metric = MetricObjectWithValues<MetricValue<string>>;

/**
 * Returns a function that renders the metrics of this process, or of all workers together: the worker that is scraped
 * requests those of the others from the primary.
 */
export function collectMetrics(register: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => register.metrics();
  const pending = new Map<string, (all: ProcessMetrics[]) => void>();
  process.on('message', (message) => {
    if (!isRelayMessage(message)) return;
    if (message.relay === 'collect') void report(message.id);
    else if (message.relay === 'all') pending.get(message.id)?.(message.metrics);
  });

  async function report(id: string): Promise<void> {
    const metrics = (await register.getMetricsAsJSON()).map(withAggregator);
    if (process.connected) process.send?.({ relay: 'collected', id, metrics } satisfies RelayMessage);
  }

  return async () => {
    // the primary is gone, and this process is about to stop: a message would end it at once
    if (!process.connected) return register.metrics();
    const id = randomUUID();
    const all = await new Promise<ProcessMetrics[] | undefined>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs, undefined);
      pending.set(id, (metrics) => {
        clearTimeout(timer);
        resolve(metrics);
      });
      process.send?.({ relay: 'ask', id } satisfies RelayMessage);
    });
    pending.delete(id);
    return all ? AggregatorRegistry.aggregate(all).metrics() : register.metrics();
  };
}

/** The maximum of the event loop lags of all workers; the default, their mean, would hide one blocked worker. */
const withAggregator = (metric: Metric): Metric =>
  metric.name.startsWith('nodejs_eventloop_lag') ? { ...metric, aggregator: 'max' } : metric;
