import { releases as calls } from '../../../contract/releases.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import { createReleaseAnalytics } from './release-analytics.ts';
import { deletePermanently, listTrash, restoreRelease, softDeleteRelease } from './release-trash.ts';
import { reachOf } from './reach.ts';
import { getRelease, listReleases } from './release-list.ts';
import { refuseNew } from './publishing.ts';
import { updateRelease } from './releases.ts';
import {
  impactOfRelease,
  pauseRollout,
  resumeRollout,
  setRollout,
  withdrawRelease,
  type PinnedTo,
} from './rollout.ts';
import { createUrlRelease, checkExternalFile } from './url-release.ts';

/** `pinnedTo` is of the policies, which depend on releases. */
export const releaseRoutes = (context: Context & { pinnedTo: PinnedTo }) => {
  const { db, reports, pinnedTo } = context;
  const analytics = createReleaseAnalytics(reports);
  return implement(calls, {
    list: ({ by, query }) => listReleases(db, by.now, query),
    get: ({ params }) => getRelease(db, params.releaseId),
    impact: ({ params }) => impactOfRelease(reports, params.releaseId, pinnedTo),
    analytics: ({ by }) => analytics(by.now),
    createFromUrl: inChangeAfter(
      async ({ by, body }) => (await refuseNew(db, by, body)) ?? checkExternalFile(context.outbound, body),
      (change, { body }, file) => createUrlRelease(change, body, file),
    ),
    update: inChange((change, { params, body, seen }) => updateRelease(change, params.releaseId, body, seen)),
    rollout: inChange((change, { params, body, seen }) =>
      setRollout(change, params.releaseId, body.percentage, { seen }),
    ),
    reach: ({ query }) => reachOf(reports, query),
    pause: inChange((change, { params, body }) => pauseRollout(change, params.releaseId, body.reason)),
    resume: inChange((change, { params, seen }) => resumeRollout(change, params.releaseId, seen)),
    withdraw: inChange((change, { params, body }) =>
      withdrawRelease(change, context, params.releaseId, body.reason),
    ),
    softDelete: inChange((change, { params, body, seen }) =>
      softDeleteRelease(change, params.releaseId, body.reason, seen),
    ),
    trash: ({ by, query }) => listTrash(db, by.now, query),
    restore: inChange((change, { params, body, seen }) =>
      restoreRelease(change, params.releaseId, body.reason, seen),
    ),
    deletePermanently: inChange((change, { params, body }) =>
      deletePermanently(change, context, params.releaseId, body),
    ),
  });
};
