import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { audit as calls } from '../../../contract/audit.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { makeCustomer } from '../../../tests/factories.ts';
import { addressOf, startTestServer, type Api, type TestServer } from '../../../tests/harness.ts';
import { withClient } from '../../db/with-client.ts';
import { split } from './audit-filter.ts';
import { listEntries } from './audit-list.ts';
import { within } from './audit-page.ts';

type Query = NonNullable<RouteRequest<typeof calls.list>['query']>;

describe('among 120,000 entries', () => {
  let own: TestServer;
  let ownApi: Api;
  beforeAll(async () => {
    own = await startTestServer();
    await fillWith120000(own);
    ownApi = own.api(await own.signInAs('super_admin'));
  });

  const person = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const md5of7 = '8f14e45fceea';

  test.each<[Query, number, number, boolean]>([
    [{}, 20, 10_000, false],
    [{ offset: '100000' }, 20, 10_000, false],
    [{ offset: '119995' }, 7, 10_000, false],
    [{ userId: person(3) }, 20, 6000, true],
    [{ userId: person(99) }, 0, 0, true],
    [{ eventType: 'a.made', offset: '20000' }, 20, 10_000, false],
    [{ resourceId: 'r17' }, 20, 24, true],
    [{ resourceType: 'b', startDate: '2026-01-02', endDate: '2026-01-02' }, 20, 360, true],
    [{ userId: person(3), eventType: 'd.made' }, 20, 6000, true],
    [{ userId: person(3), eventType: 'a.made' }, 0, 0, true],
    [{ search: 'x.example' }, 20, 10_000, false],
    [{ search: md5of7 }, 1, 1, true],
    [{ search: 'bygone' }, 20, 10_000, false],
    [{ search: 'no such thing' }, 0, 0, true],
    [{ search: md5of7, userId: person(7) }, 1, 1, true],
    [{ search: md5of7, userId: person(8) }, 0, 0, true],
  ])('%j is found without reading them all', async (query, entries, total, totalIsExact) => {
    const queries = await recordQueries(() => ownApi.ok(calls.list, { query }));
    expect(queries.all.length).toBeGreaterThan(0);
    const { answer } = queries;
    // The count of a search or of several fields has 40 ms, which a busy machine may exceed.
    const isTimed = query.search ?? (query.userId && query.eventType);
    const uncounted = { total: entries, totalIsExact: false };
    expect([{ total, totalIsExact }, ...(isTimed ? [uncounted] : [])]).toContainEqual({
      total: answer.total,
      totalIsExact: answer.totalIsExact,
    });
    expect(answer.entries).toHaveLength(entries);
    for (const plan of await Promise.all(queries.all.map((one) => planOf(own, one))))
      expect(plan.replace(countsToLimit, '')).not.toMatch(/Seq Scan/);
  });

  test.each([
    [md5of7, 1, true],
    ['x.example', 20, false],
  ])(
    '%s has its total where the count gave up, if the page shows all',
    async (search, total, totalIsExact) => {
      const found = await listEntries(own.context, async () => undefined, { search, limit: 20, offset: 0 });
      expect(found).toMatchObject({ total, totalIsExact });
    },
  );

  test('what many entries hold is met by going on, what few hold by the index of the search', async () => {
    const byIndex = async (search: string) =>
      (await recordQueries(() => ownApi.ok(calls.list, { query: { search } }))).all.some(({ text }) =>
        text.startsWith('with found'),
      );
    expect(await byIndex('bygone')).toBe(false);
    expect(await byIndex(md5of7)).toBe(true);
  });

  test('a search that no index helps is answered in parts, none left out', async () => {
    let after: string | undefined;
    const seen: string[] = [];
    const stops: (string | null)[] = [];
    do {
      const page = await ownApi.ok(calls.list, { query: { search: '§%', limit: '10', after } });
      seen.push(...page.entries.map((e) => e.changes_summary));
      stops.push(page.searchedBackTo);
      after = page.nextCursor ?? undefined;
    } while (after);
    expect(seen).toEqual([`${md5of7} §%`]);
    expect(stops).toEqual([expect.stringMatching(/^2026-01-1/), null]);
  });

  test('a part ends with the last entry that it looked at, whatever is written meanwhile', async () => {
    const busy = own.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        await makeCustomer(ownApi);
        return result;
      },
    });
    const filter = split({ search: 'example' });
    const { rows, searchedTo } = await within(busy, filter, { after: undefined, limit: 9, offset: 0 }, 3);
    expect(rows.at(-1)).toMatchObject(searchedTo!);
  });

  test('the export finds the same', async () => {
    const auditor = await own.signInAs('admin');
    for (const [query, rows] of [
      [{ search: '§%' }, 1],
      [{ search: md5of7, userId: person(7), resourceType: 'd' }, 1],
      [{ userId: person(3), eventType: 'd.made' }, 6000],
    ] as const) {
      const response = await fetch(own.url + addressOf(calls.exportCsv, { query }), {
        headers: auditor.headers,
      });
      expect((await response.text()).trim().split('\n')).toHaveLength(rows + 1);
    }
  });
});

/** In bulk: without time limit, and with the index of the search made at the end. */
const fillWith120000 = (on: TestServer) =>
  withClient(on.database.url, async (client) => {
    const { rows } = await client.query<{ indexdef: string }>(
      "select indexdef from pg_indexes where indexname = 'audit_entries_search'",
    );
    await client.query('drop index audit_entries_search');
    await client.query("set session_replication_role = 'replica'");
    await client.query(`insert into audit_entries
    (audit_id, timestamp, user_id, user_email, event_type, resource_type, resource_id, changes_summary, success)
    select ('01920000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, timestamptz '2026-01-01' + n * interval '1 minute',
           ('00000000-0000-7000-8000-' || lpad((n % 20)::text, 12, '0'))::uuid, 'p' || n % 20 || '@x.example',
           (array['a.made', 'b.made', 'c.made', 'd.made'])[1 + n % 4], (array['a', 'b', 'c', 'd'])[1 + n % 4],
           'r' || n % 5000, left(md5(n::text), 12) || case when n = 7 then ' §%' when n < 90000 then ' bygone' else '' end, true
      from generate_series(1, 120000) n`);
    await client.query(rows[0]!.indexdef);
    await client.query('vacuum analyze audit_entries');
  });

/** A count that ends at its limit may well read the table from anywhere. */
const countsToLimit = /Limit .*rows=10001 .*\n +-> +Seq Scan/;

type Recorded = { text: string; values: unknown[] };

/** What the database was asked about entries meanwhile. */
async function recordQueries<T>(work: () => Promise<T>): Promise<{ all: Recorded[]; answer: T }> {
  const asked = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const answer = await work();
    const all = (asked.mock.calls as unknown[][])
      .map(([text, values]) => ({ text, values }) as Recorded)
      .filter(({ text }) => typeof text === 'string' && /^select.*audit_entries|^with found/s.test(text));
    return { all, answer };
  } finally {
    asked.mockRestore();
  }
}

async function planOf(on: TestServer, { text, values }: Recorded): Promise<string> {
  const { rows } = await on.pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
