import { permit, reads, type Needs } from './permissions.ts';

// Without schemas, because lists load it: see decision record 67.

/** Those who also see and confirm a jump of the clock. */
const operates = [[permit('audit', 'delete')]];

/**
 * What may need a person, in the order in which equally urgent things are shown, and the permissions
 * to see it. The server leaves out what the caller may not see.
 */
export const todayNeeds = {
  storageDown: reads('releases'),
  chainBroken: reads('audit'),
  chainNotKept: reads('audit'),
  clockJumped: operates,
  diskFull: operates,
  releasesDamaged: reads('releases'),
  rolloutsFailing: reads('releases'),
  rolloutsClaimed: reads('releases'),
  approvalsWaiting: [[permit('rollouts', 'create'), permit('rollouts', 'update')]],
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
  trashEnding: reads('releases'),
} satisfies Record<string, Needs>;

export type TodayKind = keyof typeof todayNeeds;
export const todayKinds = Object.keys(todayNeeds) as [TodayKind, ...TodayKind[]];

/** Of more entries about refused sign-ins, Today says only that there are more: counting them would take longer. */
export const mostSignIns = 10_000;

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
