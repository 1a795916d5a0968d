import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { architectures, platforms } from '../../../contract/builds.ts';
import { permanentConfirmation, releases } from '../../../contract/releases.ts';
import { rolloutAttentions } from '../../../contract/rollout-attention.ts';
import { rollouts } from '../../../contract/rollouts.ts';
import { channels, type Channel } from '../../../contract/versions.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call, callList } from '../../api.ts';
import { askedOnce, shouldRetry } from '../../query-client.ts';
import { live } from '../../live.ts';
import { oneOf } from '../../search-params.ts';
import type { ReleasesSearch, ReleaseTrashSearch } from './releases-search.ts';

/** Releases per page of the list. */
export const pageSize = 100;

/** Spec part 2, section 9. */
export const trashPageSize = 20;

/** Spec part 2, section 9: cached 5 minutes, 1 retry. */
const asReleases = {
  staleTime: 5 * 60_000,
  retry: (failures: number, error: unknown) => failures < 1 && shouldRetry(failures, error),
};

/** The search parameters that the service filters by. */
const filterOf = (search: ReleasesSearch) => ({
  search: search.search,
  platform: oneOf(platforms, search.platform),
  channel: oneOf(channels, search.channel),
  architecture: oneOf(architectures, search.architecture),
  attention: oneOf(rolloutAttentions, search.attention),
  showInactive: search.inactive ? ('true' as const) : ('false' as const),
});

export const releaseListQuery = (search: ReleasesSearch) => {
  const query = {
    ...filterOf(search),
    limit: String(pageSize),
    offset: String(((search.page ?? 1) - 1) * pageSize),
  };
  return queryOptions({
    ...asReleases,
    ...live,
    queryKey: ['releases', 'list', query],
    queryFn: ({ signal }) => callList(releases.list, { query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

/** Releases found by version or notes, including inactive ones. */
export const findReleases = (text: string, limit: number, signal: AbortSignal) =>
  callList(releases.list, { query: { search: text, limit: String(limit) } }, { signal });

/** One release, always refetched, since its `updatedAt` decides whether an edit may be saved. */
export const releaseQuery = (id: string) =>
  queryOptions({
    ...asReleases,
    queryKey: ['releases', 'one', id],
    queryFn: ({ signal }) => call(releases.get, withId(id), { signal }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const releaseAnalyticsQuery = () =>
  queryOptions({
    ...asReleases,
    ...live,
    queryKey: ['releases', 'analytics'],
    queryFn: ({ signal }) => call(releases.analytics, {}, { signal }),
  });

export const releaseTrashQuery = ({ search, due, page }: ReleaseTrashSearch) => {
  const query = { search, dueWithinDays: due, page: String(page ?? 1), pageSize: String(trashPageSize) };
  return queryOptions({
    ...asReleases,
    queryKey: ['releases', 'trash', query],
    queryFn: ({ signal }) => call(releases.trash, { query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

/** Machines that run the version of a release. */
export const releaseImpactQuery = (releaseId: string) =>
  queryOptions({
    queryKey: ['releases', 'impact', releaseId],
    queryFn: ({ signal }) => call(releases.impact, withId(releaseId), { signal }),
    ...askedOnce,
  });

/** How far these releases have come, for the list. */
export const stripsQuery = (ids: readonly string[]) =>
  queryOptions({
    ...asReleases,
    ...live,
    queryKey: ['releases', 'strips', ids],
    queryFn: ({ signal }) => call(rollouts.strips, { query: { ids: ids.join(',') } }, { signal }),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });

export const setRolloutDefault = (channel: Channel, body: RouteRequest<typeof rollouts.setDefault>['body']) =>
  call(rollouts.setDefault, { params: { channel }, body });

type Update = RouteRequest<typeof releases.update>['body'];

export const updateRelease = (id: string, body: Update) => call(releases.update, { ...withId(id), body });
export const setRollout = (id: string, percentage: number) =>
  call(releases.rollout, { ...withId(id), body: { percentage } });
export const setPlan = (id: string, body: RouteRequest<typeof rollouts.plan>['body']) =>
  call(rollouts.plan, { ...withId(id), body });
/** `percentage`: of the next step, as it was shown. */
export const widenRollout = (id: string, percentage: number) =>
  call(rollouts.widen, { ...withId(id), body: { percentage } });
export const pauseRollout = (id: string, reason: string) =>
  call(releases.pause, { ...withId(id), body: { reason } });
export const resumeRollout = (id: string) => call(releases.resume, withId(id));
export const withdrawRelease = (id: string, reason: string) =>
  call(releases.withdraw, { ...withId(id), body: { reason } });
export const softDeleteRelease = (id: string, reason: string) =>
  call(releases.softDelete, { ...withId(id), body: { reason } });
export const restoreRelease = (id: string, reason: string) =>
  call(releases.restore, { ...withId(id), body: { reason } });
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
