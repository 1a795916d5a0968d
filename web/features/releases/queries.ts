import { keepPreviousData } from '@tanstack/react-query';
import { permanentConfirmation, releases, type Release } from '../../../contract/releases.ts';
import { rollouts } from '../../../contract/rollouts.ts';
import type { Channel } from '../../../contract/versions.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call } from '../../api.ts';
import { asReleases } from '../../as-releases.ts';
import { alwaysFresh, askedOnce } from '../../query-client.ts';
import { live } from '../../live.ts';
import { pageOf, queryOf } from '../../query-of.ts';
import { releasesSearch, type ReleasesSearch, type ReleaseTrashSearch } from './releases-search.ts';

/** Releases per page of the list. */
export const pageSize = 100;

/** Spec part 2, section 9. */
export const trashPageSize = 20;

/** What a saved view of the list holds. */
export const releaseView = {
  names: ['search', 'platform', 'channel', 'architecture', 'inactive', 'attention'],
  read: releasesSearch,
};

/** The search parameters that the service filters by. */
function filterOf({ search, platform, channel, architecture, attention, inactive }: ReleasesSearch) {
  const showInactive = inactive ? ('true' as const) : ('false' as const);
  return { search, platform, channel, architecture, attention, showInactive };
}

export const releaseListQuery = (search: ReleasesSearch) =>
  queryOf(
    releases.list,
    { query: { ...filterOf(search), ...pageOf(search.page, pageSize) } },
    { ...asReleases, ...live, placeholderData: keepPreviousData },
  );

/** Releases found by version or notes, including inactive ones. */
export const findReleases = (text: string, limit: number, signal: AbortSignal) =>
  call(releases.list, { query: { search: text, limit: String(limit) } }, { signal });

/** One release, always refetched, since its `updatedAt` decides whether an edit may be saved. */
export const releaseQuery = (id: string) =>
  queryOf(releases.get, withId(id), { ...asReleases, staleTime: 0, ...alwaysFresh });

export const readRelease = (id: string) => call(releases.get, withId(id));

export const releaseAnalyticsQuery = () => queryOf(releases.analytics, {}, { ...asReleases, ...live });

export const releaseTrashQuery = ({ search, due, page }: ReleaseTrashSearch) =>
  queryOf(
    releases.trash,
    { query: { search, dueWithinDays: due, page: String(page ?? 1), pageSize: String(trashPageSize) } },
    { ...asReleases, placeholderData: keepPreviousData },
  );

/** Machines that run the version of a release. */
export const releaseImpactQuery = (releaseId: string) =>
  queryOf(releases.impact, withId(releaseId), askedOnce);

/** How far these releases have come, for the list. */
export const summariesQuery = (ids: readonly string[]) =>
  queryOf(
    rollouts.summaries,
    { query: { ids: ids.join(',') } },
    { ...asReleases, ...live, enabled: ids.length > 0, placeholderData: keepPreviousData },
  );

export const setRolloutDefault = (channel: Channel, body: RouteRequest<typeof rollouts.setDefault>['body']) =>
  call(rollouts.setDefault, { params: { channel }, body });

type Shown = Pick<Release, 'id' | 'updatedAt'>;
type Update = RouteRequest<typeof releases.update>['body'];

export const updateRelease = (id: string, body: Update) => call(releases.update, { ...withId(id), body });
export const setRollout = (id: string, body: RouteRequest<typeof releases.rollout>['body']) =>
  call(releases.rollout, { ...withId(id), body });
export const setPlan = (id: string, body: RouteRequest<typeof rollouts.plan>['body']) =>
  call(rollouts.plan, { ...withId(id), body });
/** The release and the percentage of its next step, as they were shown. */
export const widenRollout = ({ id, updatedAt }: Shown, percentage: number) =>
  call(rollouts.widen, { ...withId(id), body: { percentage, updatedAt } });
export const pauseRollout = (id: string, reason: string) =>
  call(releases.pause, { ...withId(id), body: { reason } });
/** The release as it was shown. */
export const resumeRollout = ({ id, updatedAt }: Shown) =>
  call(releases.resume, { ...withId(id), query: { updatedAt } });
export const withdrawRelease = (id: string, reason: string) =>
  call(releases.withdraw, { ...withId(id), body: { reason } });
/** The release as it was shown. */
export const softDeleteRelease = ({ id, updatedAt }: Shown, reason: string) =>
  call(releases.softDelete, { ...withId(id), body: { reason, updatedAt } });
/** The release as it was shown, or as its deletion returned it. */
export const restoreRelease = (
  { id, updatedAt }: { id: string; updatedAt: string | undefined },
  reason: string,
) => call(releases.restore, { ...withId(id), body: { reason, updatedAt } });
/** The user has confirmed it in a dialog; the service requires the confirmation text as well. */
export const deleteReleasePermanently = (id: string, reason: string) =>
  call(releases.deletePermanently, {
    ...withId(id),
    body: { confirmation: permanentConfirmation, reason },
  });

function withId(releaseId: string) {
  if (!releaseId) throw new Error('Release ID is required');
  return { params: { releaseId } };
}
