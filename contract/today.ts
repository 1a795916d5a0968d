import { z } from 'zod';
import { dateTime, namedObject } from './common.ts';
import { route, signedIn } from './route.ts';
import { figures, mostSignIns, todayKinds } from './today-needs.ts';

/** Limits of what Today counts, in days unless named otherwise; the filters of the lists use the same. */
export const todayLimits = {
  licensesEndingDays: 30,
  licensesEndedDays: 7,
  /** Over a weekend, a machine that still waits does not ask. */
  refusedWithinDays: 3,
  offlineEndingDays: 7,
  keysEndingDays: 30,
  keysRefusedHours: 24,
  trashEndingDays: 7,
  signInsHours: 24,
} as const;

export const todayLine = namedObject('TodayLine', {
  kind: z.enum(todayKinds),
  count: z.number().meta({
    description: `Records of the list behind the line; of signInsRefused, above ${mostSignIns}: at least so many; of diskFull: percent of the disk that is in use`,
  }),
  next: z
    .object({ id: z.string(), name: z.string(), at: dateTime.nullable() })
    .nullable()
    .meta({ description: 'The most urgent record, and when it ends or what happened last' }),
  since: dateTime.nullable().meta({ description: 'Of signInsRefused: from when on they are counted' }),
  usual: z.number().nullable().meta({
    description: 'Of signInsRefused: the usual number in as many hours; of diskFull: bytes left',
  }),
});
export type TodayLine = z.output<typeof todayLine>;

export const dayFigure = namedObject('DayFigure', {
  figure: z.enum(figures),
  today: z.number().meta({ description: 'Since midnight UTC' }),
  yesterday: z
    .number()
    .nullable()
    .meta({ description: 'From midnight to the same hour, to five minutes; null: nothing was counted yet' }),
});
export type DayFigure = z.output<typeof dayFigure>;

export const today = {
  get: route('GET', '/api/v1/today', {
    summary: 'What needs attention, and the figures of the day, as far as the caller may see them',
    access: signedIn,
    answer: namedObject('Today', {
      checkedAt: dateTime,
      lines: z.array(todayLine).meta({ description: 'Without what needs nobody' }),
      figures: z.array(dayFigure),
    }),
  }),
};
