import { dayMs, daysFrom, utcDay } from '../../../contract/durations.ts';
import type { RolloutProgress } from '../../../contract/rollouts.ts';

type Day = RolloutProgress['adoption'][number];

/** Of a clock that was ahead for a moment: a page cannot draw all days of a century. */
const mostMissing = 366;

/** With the UTC days that are absent because nothing was installed: bars side by side are days one after the other. */
export function everyDay(days: readonly Day[]): Day[] {
  return days.flatMap((day, index) => {
    const from = Date.parse(days[index - 1]?.date ?? day.date);
    const missing = Math.max(0, (Date.parse(day.date) - from) / dayMs - 1);
    const between = Array.from({ length: missing > mostMissing ? 0 : missing }, (_, n) => ({
      date: utcDay(daysFrom(new Date(from), n + 1)),
      installed: 0,
      failed: 0,
    }));
    return [...between, day];
  });
}
