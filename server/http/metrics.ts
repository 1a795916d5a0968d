import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ChainState } from '../../contract/audit.ts';
import type { Budgets } from '../budgets.ts';
import type { Context } from '../context.ts';
import type { Facts } from '../db/facts.ts';
import type { WriteBehind } from '../db/write-behind.ts';
import type { Db } from '../db/client.ts';
import { countOf } from '../db/sql.ts';
import type { StorageWatch } from '../storage/watch.ts';
import { clockJump } from '../checked-time.ts';
import { collectMetrics } from './cluster-metrics.ts';
import { compressedText } from './compression.ts';
import type { Guard } from './diagnostics.ts';

type ByLabel = Iterable<[string, number]>;
type Read = number | undefined | ByLabel | Promise<number | undefined | ByLabel>;

/** One for all servers of a process: the observers of these metrics cannot be stopped, and would keep a server alive. */
const processMetrics = new Registry();
collectDefaultMetrics({ register: processMetrics });

/** `GET /metrics` for Prometheus: the process, the pool, and every call by route, method and status. */
export function serveMetrics(
  app: FastifyInstance,
  { db, jobsDue, pool, signals, clock }: Context,
  guard: Guard,
  {
    audit,
    budgets,
    refusals,
    behind,
    facts,
    storage,
  }: {
    audit: { state(): ChainState };
    budgets: Budgets;
    refusals: { totals(): ReadonlyMap<string, number> };
    behind: Pick<WriteBehind, 'state' | 'journalBytes' | 'damagedFiles'>;
    facts: Pick<Facts, 'bytes' | 'lookups'>;
    storage: StorageWatch;
  },
): void {
  const register = new Registry();
  const began = clock().getTime();
  const duration = new Histogram({
    name: 'lanyard_http_request_duration_seconds',
    help: 'Duration of requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.015, 0.05, 0.15, 0.5, 1.5, 5],
    registers: [register],
  });
  /** `aggregator` combines the values of several workers; `label` says by what the values are counted. */
  const gauge = (
    name: string,
    help: string,
    read: () => Read,
    aggregator: 'sum' | 'min' | 'max' = 'sum',
    label?: string,
  ) =>
    new Gauge({
      name,
      help,
      aggregator,
      labelNames: label ? [label] : [],
      registers: [register],
      async collect() {
        const value = await known(read);
        this.reset();
        // without a value, not with NaN, which would be the maximum of all workers
        if (value === undefined) {
          if (!label) this.remove();
        } else if (typeof value === 'number') this.set(value);
        else for (const [key, one] of value) this.labels(key).set(one);
      },
    });
  /** A database that is overloaded takes no other figure with it; in a worker, an error would end the process. */
  const known = async (read: () => Read) => {
    try {
      return await read();
    } catch (error) {
      app.log.warn({ err: error }, 'A metric could not be read');
      return undefined;
    }
  };
  const counter = (name: string, help: string, read: () => ByLabel, label: string) =>
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [register],
      collect() {
        this.reset();
        for (const [key, one] of read()) this.labels(key).inc(one);
      },
    });
  gauge('lanyard_database_up', 'Whether the database is reachable', () => Number(signals.isUp()), 'min');
  const storageUp = async () => Number(await storage.isUsable());
  gauge('lanyard_storage_up', 'Whether the storage can be used', storageUp, 'min');
  gauge('lanyard_processes', 'Processes that serve the port', () => 1);
  gauge(
    'lanyard_database_connections',
    'Connections of this process for everyday calls',
    () => pool.totalCount,
  );
  gauge('lanyard_database_waiting', 'Everyday calls waiting for a connection', () => pool.waitingCount);

  gauge(
    'lanyard_clock_jump_seconds',
    'Difference between the clock and the newest time in the database, if deletions wait for confirmation because of it',
    async () => {
      if (!signals.isUp()) return undefined;
      const jump = await clockJump(db, clock());
      return jump ? (jump.now.getTime() - jump.newest.getTime()) / 1000 : 0;
    },
    'max',
  );
  gauge(
    'lanyard_damaged_files',
    'Releases whose stored file is missing or was altered',
    () => (signals.isUp() ? countDamaged(db) : undefined),
    'max',
  );
  gauge(
    'lanyard_paused_rollouts',
    'Releases whose rollout is paused, by who paused it: staff, or Lanyard because installs failed',
    async () => (signals.isUp() ? Object.entries(await countPaused(db)) : []),
    'max',
    'by',
  );
  gauge(
    'lanyard_job_due_timestamp_seconds',
    'Time by which a job must have succeeded again',
    () => [...jobsDue].map(([job, at]) => [job, at.getTime() / 1000]),
    'max',
    'task',
  );
  const isBroken = () => Number(audit.state().state === 'broken');
  gauge('lanyard_audit_chain_broken', 'Whether the audit log is broken', isBroken, 'max');
  // 0 before the first look would be a chain that has lost its entries
  const entries = () => {
    const { checkedAt, sequence } = audit.state();
    return checkedAt === null ? undefined : sequence;
  };
  gauge('lanyard_audit_chain_entries', 'The number of the last sealed entry', entries, 'max');
  gauge(
    'lanyard_journal_bytes',
    'Bytes of the records in the journal, which the database does not have yet',
    behind.journalBytes,
    // workers share the folder
    'max',
  );
  gauge(
    'lanyard_damaged_journal_files',
    'Files of the journal whose records are lost, because they were damaged',
    behind.damagedFiles,
    'max',
  );
  gauge(
    'lanyard_unwritten_records',
    'Records in memory, which the database does not have yet',
    () => behind.state().map(({ name, waiting }) => [name, waiting]),
    'sum',
    'queue',
  );
  gauge(
    'lanyard_unwritten_seconds',
    'For how long records have waited because the database does not take them',
    () => behind.state().map(({ name, failingMs }) => [name, failingMs / 1000]),
    'max',
    'queue',
  );
  counter(
    'lanyard_dropped_records_total',
    'Records lost because the journal was full, or the database refused them',
    () => behind.state().map(({ name, dropped }) => [name, dropped]),
    'queue',
  );
  gauge('lanyard_cache_bytes', 'Memory of the facts that are kept, at most CACHE_MB', facts.bytes);
  counter(
    'lanyard_cache_lookups_total',
    'Facts that a call asked for, by whether they were kept',
    () => Object.entries(facts.lookups()),
    'result',
  );
  counter('lanyard_refused_total', 'Refused credentials and calls, by kind', () => refusals.totals(), 'kind');
  gauge(
    'lanyard_audit_head_kept_timestamp_seconds',
    'When the head of the audit log was last stored outside the database; if never, when the process started',
    () => audit.state().kept.map(({ place, at }) => [place, (at ? Date.parse(at) : began) / 1000]),
    'max',
    'place',
  );
  counter(
    'lanyard_budget_refusals_total',
    'Refusals because an API key, a machine or a license has used up its hourly budget',
    () => Object.entries(budgets.refusals),
    'budget',
  );

  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
  const allMetrics = collectMetrics(Registry.merge([processMetrics, register]));
  app.get('/metrics', { onRequest: guard }, async (request, reply) => {
    const text = await compressedText(request, reply, await allMetrics());
    return reply.type(register.contentType).send(text);
  });
}

const countDamaged = (db: Db) =>
  countOf(db.selectFrom('releases').where('damaged_at', 'is not', null).where('deleted_at', 'is', null));

async function countPaused(db: Db): Promise<{ staff: number; failures: number }> {
  const { paused, staff } = await db
    .selectFrom('releases')
    .select((eb) => [eb.fn.countAll<number>().as('paused'), eb.fn.count<number>('paused_by').as('staff')])
    .where('paused_at', 'is not', null)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return { staff, failures: paused - staff };
}
