import type { notices as calls } from '../../../contract/notices.ts';
import { maySee } from '../../../contract/permissions.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { todayNeeds } from '../../../contract/today-needs.ts';
import { personOf, type Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { StorageWatch } from '../../storage/watch.ts';
import { listRequests } from '../approvals/index.ts';
import { clockState } from '../clock/index.ts';
import { pausedReleases } from '../releases/index.ts';

export type NoticesParts = Pick<Context, 'db' | 'config'> & {
  storageWatch: Pick<StorageWatch, 'isUsable' | 'whyForeign'>;
};

/** What the console shows above every screen, as far as the caller may see it; the same permissions as on Today. */
export async function listNotices(parts: NoticesParts, by: Caller): Promise<RouteAnswer<typeof calls.list>> {
  const { db, storageWatch } = parts;
  const sees = (kind: keyof typeof todayNeeds) => maySee(todayNeeds[kind], personOf(by).permissions);
  const [paused, approvals, isUsable, clock] = await Promise.all([
    sees('rolloutsPaused') ? pausedReleases(db) : [],
    sees('approvalsWaiting') ? listRequests(parts, by, { waiting: true }) : [],
    sees('storageDown') ? storageWatch.isUsable() : true,
    sees('clockJumped') ? clockState(db, by.now) : null,
  ]);
  return {
    paused,
    approvals,
    storageDown: !isUsable,
    storageForeign: (sees('diskFull') && storageWatch.whyForeign()) || null,
    clock: clock?.newest ? clock : null,
  };
}
