import { dayMs } from '../../../contract/durations.ts';
import type { RolloutProgress } from '../../../contract/rollouts.ts';

type Day = RolloutProgress['adoption'][number];

/** With the UTC days that are absent because nothing was installed: bars side by side are days one after the other. */
export function everyDay(days: readonly Day[]): Day[] {
  const byDate = new Map(days.map((day) => [day.date, day]));
  const last = Date.parse(days.at(-1)?.date ?? '');
  const all: Day[] = [];
  for (let at = Date.parse(days[0]?.date ?? ''); at <= last; at += dayMs) {
    const date = new Date(at).toISOString().slice(0, 10);
    all.push(byDate.get(date) ?? { date, installed: 0, failed: 0 });
  }
  return all;
}
