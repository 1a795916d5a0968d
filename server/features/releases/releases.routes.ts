import { releases as calls } from '../../../contract/releases.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import { releaseAnalytics } from './release-analytics.ts';
import { deletePermanently, listBin, restoreRelease, softDeleteRelease } from './release-bin.ts';
import { reachOf } from './reach.ts';
import { getRelease, listReleases } from './release-list.ts';
import { refuseNew } from './publishing.ts';
import { updateRelease } from './releases.ts';
import { impactOfRelease, pauseRollout, resumeRollout, setRollout, withdrawRelease } from './rollout.ts';
import { createUrlRelease, checkExternalFile } from './url-release.ts';

export const releaseRoutes = (context: Context) => {
  const { db, reports, outbound, config } = context;
  const { publicUrl } = config;
  return implement(calls, {
    list: ({ query }) => listReleases(db, query, publicUrl),
    get: ({ params }) => getRelease(db, params.releaseId, publicUrl),
    impact: ({ params }) => impactOfRelease(reports, params.releaseId),
    analytics: ({ by }) => releaseAnalytics(reports, by.now),
    createFromUrl: inChangeAfter(
      async ({ by, body }) => refuseNew(by, body) ?? checkExternalFile(outbound, body),
      ({ tx }, { by, body }, file) => createUrlRelease(tx, by, body, file, publicUrl),
    ),
    update: inChange(({ tx }, { by, params, body: patch, seen }) =>
      updateRelease(tx, by, params.releaseId, patch, { seen, publicUrl }),
    ),
    rollout: inChange(({ tx }, { by, params, body }) =>
      setRollout(tx, by, params.releaseId, body.percentage, publicUrl),
    ),
    reach: ({ query }) => reachOf(reports, query),
    pause: inChange(({ tx }, { by, params, body }) =>
      pauseRollout(tx, by, params.releaseId, body.reason, publicUrl),
    ),
    resume: inChange(({ tx }, { by, params }) => resumeRollout(tx, by, params.releaseId, publicUrl)),
    withdraw: inChange(({ tx }, { by, params, body }) =>
      withdrawRelease(tx, by, params.releaseId, body.reason, publicUrl),
    ),
    softDelete: inChange(({ tx }, { by, params, body }) =>
      softDeleteRelease(tx, by, params.releaseId, body.reason),
    ),
    trash: ({ by, query }) => listBin(db, by.now, query, publicUrl),
    restore: inChange(({ tx }, { by, params, body }) =>
      restoreRelease(tx, by, params.releaseId, body.reason, publicUrl),
    ),
    deletePermanently: inChange(({ tx }, { by, params, body }) =>
      deletePermanently(tx, by, context, params.releaseId, body),
    ),
  });
};
