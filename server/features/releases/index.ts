export {
  type TrashedRelease,
  type Line,
  type LiveRelease,
  type Releases,
  type ReleaseSet,
  createReleaseSet,
  isSameLine,
  lacksSha1,
  toLiveRelease,
} from './live-releases.ts';
export { keepDueAffected } from './affected-machines.ts';
export { pausedReleases, releasesNeedingAttention } from './release-attention.ts';
export { refuseNew } from './publishing.ts';
export { trashForToday, countPurgeable, purgeTrash } from './release-trash.ts';
export { getRelease } from './release-list.ts';
export {
  type ReleaseRow,
  filePathOf,
  inFeed,
  lockRelease,
  selectReleases,
  toRelease,
} from './release-row.ts';
export { endReleaseTimesAhead } from './times-ahead.ts';
export { byNewest, fedReleases, hiddenBy, partialOf, replacedBy } from './newer-releases.ts';
export { wouldTake } from './reach.ts';
export { type NewRelease, checkIdentity, createRelease } from './releases.ts';
export { liveRelease } from './release-change.ts';
export { pauseRollout, setPlan, setRollout } from './rollout.ts';
