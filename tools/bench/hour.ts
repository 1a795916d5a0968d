import { withClient } from '../../server/db/with-client.ts';
import { validations } from './licensing.ts';
import { steadily, type Measured } from './load.ts';
import type { Row, Stage } from './stage.ts';

const perSecond = 2000;
const rounds = 60;
/** Rounds at the beginning and at the end that are compared, by the median of their p99. */
const compared = 5;
/** The part of the rows at which autovacuum cleans a table, by default, and how many more a round may add. */
const [deadPart, deadRows] = [0.2, 1000];

type Table = { name: string; megabytes: number; rows: number; dead: number; vacuums: number };

/**
 * Validations at a constant rate for 60 rounds, which are an hour with `--seconds 60`: the last rounds beside the first,
 * and each table that grew or was cleaned, with its dead rows.
 */
export async function benchHour(stage: Stage): Promise<Row[]> {
  const { databaseUrl, seconds } = stage;
  const target = validations(stage).byApiKey;
  await steadily(target, perSecond, seconds);
  const before = new Map((await tablesOf(databaseUrl)).map((table) => [table.name, table]));
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await steadily(target, perSecond, seconds));
  const [first, last] = [medianOf(measured.slice(0, compared)), medianOf(measured.slice(-compared))];
  const worst = Math.max(...measured.map(({ p99 }) => p99));
  const rows: Row[] = [
    {
      job: `validations at ${perSecond}/s, the last ${compared} of ${rounds} rounds to the first`,
      target: 'same rate, p99 at most 1.5 ×',
      bare: first,
      ours: last,
      met: last.perSecond >= 0.99 * perSecond && last.p99 <= 1.5 * first.p99,
      note: `p99 of the first ${first.p99} ms, of the last ${last.p99} ms, worst of all ${worst} ms`,
    },
  ];
  for (const table of await tablesOf(databaseUrl)) {
    const { megabytes = 0, rows: rowsBefore = 0, vacuums = 0 } = before.get(table.name) ?? {};
    if (table.megabytes < megabytes + 1 && table.vacuums === vacuums) continue;
    rows.push({
      job: `rows of ${table.name} that are dead`,
      target: `≤ ${100 * deadPart} %`,
      met: table.dead <= deadPart * table.rows + deadRows,
      note: `${table.dead} beside ${table.rows} (${rowsBefore} before), ${megabytes.toFixed(0)} to ${table.megabytes.toFixed(0)} MB, ${table.vacuums - vacuums} vacuums`,
    });
  }
  return rows;
}

const medianOf = (some: readonly Measured[]): Measured =>
  some.toSorted((a, b) => a.p99 - b.p99)[Math.floor(some.length / 2)]!;

/** Tables with all of their partitions and indexes. */
const tablesOf = (databaseUrl: string): Promise<Table[]> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Table>(
      `select coalesce(pg_partition_root(relid), relid)::regclass::text as name,
              sum(pg_total_relation_size(relid))::float8 / 1e6 as megabytes, sum(n_live_tup)::float8 as rows,
              sum(n_dead_tup)::float8 as dead, sum(autovacuum_count)::float8 as vacuums
         from pg_stat_user_tables group by 1 order by 2 desc`,
    );
    return rows;
  });
