import { sql } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import type { Figure } from '../../../contract/today-needs.ts';
import type { DayFigure } from '../../../contract/today.ts';
import { clearBefore } from '../../checked-time.ts';
import type { Db, Tx } from '../../db/client.ts';
import { inKeyOrder } from '../../db/key-order.ts';

const stepMs = 5 * 60_000;

/** Something to be counted once, at its time, or with -1 what turned out to be none. */
export type Counted = { at: Date; figure: Figure; count?: number };

/** How far back a figure is of use: yesterday, with room for late reports. */
const keptMs = 3 * dayMs;

/** Counts these in their five minutes. What happened before the days that are compared is left out. */
export async function addFigures(tx: Tx, counted: readonly Counted[], now: Date): Promise<void> {
  const sums = new Map<string, { at: Date; figure: Figure; count: number }>();
  for (const { at, figure, count = 1 } of counted) {
    if (at.getTime() < now.getTime() - keptMs) continue;
    const start = Math.floor(at.getTime() / stepMs) * stepMs;
    const key = `${start} ${figure}`;
    const sum = sums.get(key) ?? { at: new Date(start), figure, count: 0 };
    sum.count += count;
    sums.set(key, sum);
  }
  if (sums.size === 0) return;
  const rows = inKeyOrder(sums).map(([, sum]) => sum);
  await sql`
    insert into day_figures as f (at, figure, count)
    select * from unnest(${rows.map((r) => r.at)}::timestamptz[], ${rows.map((r) => r.figure)}::text[],
                         ${rows.map((r) => r.count)}::bigint[])
    on conflict (at, figure) do update set count = f.count + excluded.count`.execute(tx);
}

/**
 * Each figure since midnight UTC, and yesterday until the same time of day. Days are UTC, as in all analytics, and thus
 * always have 24 hours. Null where nothing at all was counted yesterday, as on the first day.
 */
export async function figuresOf(db: Db, names: readonly Figure[], now: Date): Promise<DayFigure[]> {
  const midnight = new Date(Math.floor(now.getTime() / dayMs) * dayMs);
  const dayAgo = new Date(now.getTime() - dayMs);
  // a download of before there were figures may turn out to be none
  const { rows } = await sql<{ figure: Figure; today: number; yesterday: number }>`
    select figure, greatest(0, sum(count) filter (where at >= ${midnight}))::bigint as today,
           greatest(0, sum(count) filter (where at < ${midnight} and at <= ${dayAgo}))::bigint as yesterday
      from day_figures where at >= ${new Date(midnight.getTime() - dayMs)} and at <= ${now}
     group by figure`.execute(db);
  const found = new Map(rows.map((row) => [row.figure, row]));
  const { rows: older } = await sql<{ first: Date | null }>`select min(at) as first from day_figures`.execute(
    db,
  );
  const first = older[0]?.first;
  const isKnown = first !== null && first !== undefined && first <= dayAgo;
  return names.map((figure) => ({
    figure,
    today: found.get(figure)?.today ?? 0,
    yesterday: isKnown ? (found.get(figure)?.yesterday ?? 0) : null,
  }));
}

/** Deletes what no day is compared with anymore. */
export const clearFigures = clearBefore('day_figures', 'at', keptMs);
