import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { validation } from '../../contract/validation.ts';
import { makeRelease } from '../../tests/factories.ts';
import { days, eventually, minutes, startTestServer } from '../../tests/harness.ts';
import { startJobs } from '../jobs/jobs.ts';

const deploy = join(import.meta.dirname, '../../deploy');
/** Labels that Prometheus adds, the metric that it creates itself, and the keywords of its query language. */
const addedLabels = ['job', 'instance'];
const addedMetrics = new Set(['up']);
const keywords = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'offset', 'bool']);

type Selector = { metric: string; labels: { name: string; values: string[] }[] };

/** The metrics of a query with the labels that it filters by, and the labels that it groups by. */
function parseQuery(query: string): { selectors: Selector[]; groups: string[] } {
  const groups = [...query.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, names]) =>
    names!.split(',').map((name) => name.trim()),
  );
  const rest = query.replaceAll(/\b(?:by|without|on|ignoring) \([^)]*\)/g, '').replaceAll(/\[[^\]]*\]/g, '');
  const selectors = [...rest.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)(?![\w:]*\s*\()(?:\{([^}]*)\})?/g)]
    .filter(([, metric]) => !keywords.has(metric!))
    .map(([, metric, filters = '']) => ({
      metric: metric!,
      labels: [...filters.matchAll(/(\w+)\s*(?:=|!=|=~|!~)\s*"([^"]*)"/g)].map(([, name, value]) => ({
        name: name!,
        // patterns and dashboard variables are not values
        values: /[$.*]/.test(value!) ? [] : value!.split('|'),
      })),
    }));
  return { selectors, groups };
}

/** Every metric in `/metrics`, with the values of its labels. */
function parseMetrics(text: string): Map<string, Map<string, Set<string>>> {
  const metrics = new Map<string, Map<string, Set<string>>>();
  for (const [, name, labels = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const known = metrics.get(name!) ?? new Map<string, Set<string>>();
    metrics.set(name!, known);
    for (const [, label, value] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      known.set(label!, (known.get(label!) ?? new Set()).add(value!));
  }
  return metrics;
}

const alertQueries = async () => {
  const text = await readFile(join(deploy, 'alerts.yml'), 'utf8');
  return [...text.matchAll(/^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
    ([, lines, line]) => lines ?? line!,
  );
};

const dashboardQueries = async () => {
  const { panels } = JSON.parse(await readFile(join(deploy, 'grafana-dashboard.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
};

const server = await startTestServer();
await server.audit.tick();
await server.api().call(validation.validate, { body: { licenseKey: 'none', machineId: 'none' } });
const jobs = startJobs(server.context, server.audit);
const metrics = await eventually(async () => {
  const seen = parseMetrics(await (await fetch(`${server.url}/metrics`)).text());
  const due = [...server.context.jobsDue.values()];
  return due.every((at) => at > server.clock.now()) && seen;
});
await jobs.stop();

describe.each([
  ['alerts.yml', alertQueries, 15],
  ['grafana-dashboard.json', dashboardQueries, 15],
] as const)('%s', (_file, queries, atLeast) => {
  test('uses only metrics, labels and values of /metrics', async () => {
    const all = await queries();
    expect(all.length).toBeGreaterThanOrEqual(atLeast);
    for (const query of all) {
      const { selectors, groups } = parseQuery(query);
      expect(selectors, query).not.toHaveLength(0);
      for (const { metric, labels } of selectors.filter((one) => !addedMetrics.has(one.metric))) {
        const known = metrics.get(metric);
        expect(known, `${metric} in ${query}`).toBeDefined();
        for (const name of [...groups, ...labels.map((label) => label.name)])
          expect([...known!.keys(), ...addedLabels], query).toContain(name);
        for (const { name, values } of labels.filter((label) => !addedLabels.includes(label.name)))
          for (const value of values) expect([...known!.get(name)!], query).toContain(value);
      }
    }
  });
});

test('the alert of too much memory counts each worker, as /metrics has the sum of all', async () => {
  const queries = (await alertQueries()).join('\n');
  const [, divisor, limit] = /^process_resident_memory_bytes\S*(?: \/ (\w+))? > (\S+)$/m.exec(queries)!;
  const inUse = { processes: 8, bytes: 8 * 145e6 };
  expect(inUse.bytes / (divisor === 'lanyard_processes' ? inUse.processes : 1)).toBeLessThan(Number(limit));
});

test('no metric has a label of the target, which Prometheus would rename, and each label in a sentence exists', async () => {
  const known = [...metrics.values()].flatMap((labels) => [...labels.keys()]);
  for (const name of addedLabels) expect(known).not.toContain(name);
  const text = await readFile(join(deploy, 'alerts.yml'), 'utf8');
  for (const [, name] of text.matchAll(/\$labels\.(\w+)/g)) expect(known).toContain(name);
});

test('has no entries of the audit log before they are known, as 0 would be fewer, and counts a place that never took its head from the start', async () => {
  const auditAnchor = { kind: 'http', url: 'http://127.0.0.1:1/' } as const;
  const lone = await startTestServer({ config: { auditAnchor } });
  const began = lone.clock.now().getTime() / 1000;
  const read = async () => (await fetch(`${lone.url}/metrics`)).text();
  const entries = /^lanyard_audit_chain_entries \d+$/m;
  expect(await read()).not.toMatch(entries);
  lone.clock.advance(minutes(16));
  await lone.audit.tick();
  const text = await read();
  expect(text).toMatch(entries);
  const kept = parseKept(text);
  expect(kept).toEqual({ 'the data directory': began + 16 * 60, 'the receiver of AUDIT_ANCHOR_URL': began });
});

/** When the head of the audit log was last stored in each place. */
const parseKept = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^lanyard_audit_head_kept_timestamp_seconds\{place="(.*)"\} (\d+)$/gm)].map(
      ([, place, at]) => [place, Number(at)],
    ),
  );

test('has the time each job is due, and the number of paused rollouts by who paused them', async () => {
  const release = await makeRelease(server);
  const pausedBy = (by: string | null) =>
    server.db
      .updateTable('releases')
      .set({ paused_at: server.clock.now(), paused_by: by })
      .where('release_id', '=', release.id)
      .execute();
  const read = async () => await (await fetch(`${server.url}/metrics`)).text();
  const text = await read();
  expect(text).toMatch(/^lanyard_paused_rollouts\{by="failures"\} 0$/m);
  const nextDay = (server.clock.now().getTime() + days(1)) / 1000;
  expect(text).toContain(`lanyard_job_due_timestamp_seconds{task="audit retention"} ${nextDay}\n`);
  await pausedBy(null);
  expect(await read()).toMatch(/^lanyard_paused_rollouts\{by="failures"\} 1$/m);
  await pausedBy('admin@lanyard.test');
  const byStaff = await read();
  expect(byStaff).toMatch(/^lanyard_paused_rollouts\{by="staff"\} 1$/m);
  expect(byStaff).toMatch(/^lanyard_paused_rollouts\{by="failures"\} 0$/m);
});

test('has all other metrics where one cannot be read, as in an overloaded database', async () => {
  const lone = await startTestServer();
  await lone.db.schema.alterTable('releases').renameTo('gone').execute();
  const answer = await fetch(`${lone.url}/metrics`);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).not.toMatch(/^lanyard_damaged_files /m);
  expect(text).toMatch(/^lanyard_database_up 1$/m);

  // nor has what is not asked for while the database is away, or its value would be the maximum of all workers
  vi.spyOn(lone.context.signals, 'isUp').mockReturnValue(false);
  const away = await (await fetch(`${lone.url}/metrics`)).text();
  expect(away).toMatch(/^lanyard_database_up 0$/m);
  expect(away).not.toMatch(/Nan/i);
});
