import { z } from 'zod';
import { dateTime, namedObject } from './common.ts';
import { hasPermission, type Action, type Permission, type Resource } from './permissions.ts';
import { route, signedIn } from './route.ts';

const right = (resource: Resource, action: Action): Permission => ({ resource, action });
const reads = (resource: Resource) => [[right(resource, 'read')]];
/** Those who also see and confirm a jump of the clock. */
const operates = [[right('audit', 'delete')]];

type Needs = readonly (readonly Permission[])[];

/**
 * What may need a person, in the order in which equally urgent things are shown, and the permissions to see it: one of each inner list. The
 * server leaves out what the caller may not see.
 */
export const todayNeeds = {
  storageDown: reads('releases'),
  chainBroken: reads('audit'),
  chainNotKept: reads('audit'),
  clockJumped: operates,
  diskFull: operates,
  releasesDamaged: reads('releases'),
  rolloutsFailing: reads('releases'),
  approvalsWaiting: [[right('rollouts', 'read')], [right('rollouts', 'create'), right('rollouts', 'update')]],
  rolloutsReady: reads('releases'),
  rolloutsPaused: reads('releases'),
  licensesEnded: reads('licenses'),
  licensesFull: reads('licenses'),
  licensesEnding: reads('licenses'),
  offlineEnding: reads('licenses'),
  keysLimited: reads('api_keys'),
  keysRefused: reads('api_keys'),
  keysEnding: reads('api_keys'),
  signInsRefused: reads('audit'),
  binEnding: reads('releases'),
} satisfies Record<string, Needs>;

export type TodayKind = keyof typeof todayNeeds;
export const todayKinds = Object.keys(todayNeeds) as [TodayKind, ...TodayKind[]];

/** What is counted during the day, and the permissions to see it. */
export const figureNeeds = {
  validations: reads('analytics'),
  refused: reads('analytics'),
  machines: reads('analytics'),
  checks: reads('releases'),
  downloads: reads('releases'),
  installs: reads('releases'),
  failedInstalls: reads('releases'),
} satisfies Record<string, Needs>;

export type Figure = keyof typeof figureNeeds;
export const figures = Object.keys(figureNeeds) as [Figure, ...Figure[]];

/** Whether a person who holds these permissions may see what needs `needs`. */
export const maySee = (needs: Needs, held: readonly Permission[]): boolean =>
  needs.every((ways) => ways.some(({ resource, action }) => hasPermission(held, resource, action)));

/** Limits of what Today counts, in days unless named otherwise; the filters of the lists use the same. */
export const todayLimits = {
  licensesEndingDays: 30,
  licensesEndedDays: 7,
  /** Over a weekend, a machine that still waits does not ask. */
  refusedWithinDays: 3,
  offlineEndingDays: 7,
  keysEndingDays: 30,
  keysRefusedHours: 24,
  binEndingDays: 7,
  signInsHours: 24,
} as const;

export const todayLine = namedObject('TodayLine', {
  kind: z.enum(todayKinds),
  count: z.number().meta({
    description: 'Records of the list behind the line; of diskFull: percent of the disk that is in use',
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
