import { dayMs } from '../../contract/durations.ts';
import type { Random } from './random.ts';

/** Days in milliseconds. */
export const days = (n: number) => n * dayMs;

const isWeekend = (at: number) => [0, 6].includes(new Date(at).getUTCDay());

/** A time of that day in working hours, 06:00 to 18:00 UTC, most of them before and after noon. */
export function inWorkingHours(random: Random, day: number): number {
  const midnight = Math.floor(day / dayMs) * dayMs;
  return midnight + days(0.25) + ((random.next() + random.next()) / 2) * days(0.5);
}

/** A time between two others, on a working day and in working hours; never after `to`. */
export function workingMoment(random: Random, from: number, to: number): number {
  let day = from + random.next() * Math.max(0, to - from);
  while (isWeekend(day) && day > from) day -= days(1);
  return Math.min(Math.max(inWorkingHours(random, day), from), to);
}

/** Each day between two times on which a machine of a hospital is in use: fewer at weekends. */
export function* daysInUse(random: Random, from: number, to: number): Generator<number> {
  for (let day = from; day < to; day += days(1)) {
    if (random.chance(isWeekend(day) ? 0.4 : 0.88)) yield Math.min(inWorkingHours(random, day), to - 1);
  }
}
