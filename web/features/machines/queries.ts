import { infiniteQueryOptions, keepPreviousData, type InfiniteData } from '@tanstack/react-query';
import { credentials } from '../../../contract/credentials.ts';
import {
  machineStandings,
  type MachineStanding,
  type TimelineRun,
} from '../../../contract/machine-standing.ts';
import { machines } from '../../../contract/machines.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { call, urlOf } from '../../api.ts';
import { live, liveFirstPage } from '../../live.ts';
import { retryOnce } from '../../query-client.ts';
import { pageOf, queryOf } from '../../query-of.ts';
import { asPreviewed } from '../../role-preview.ts';
import { machinePages, machinesSearch, type MachinesSearch } from './machines-search.ts';

export type MachineDetail = RouteAnswer<typeof machines.get>;
export type MachineActivation = MachineDetail['activations'][number];

const followed = { ...live, retry: retryOnce };

const permittedMachine = asPreviewed<MachineDetail>((detail, reads) =>
  reads('licenses') ? detail : { ...detail, activations: [] },
);

/** One machine by its display id or hash, refetched so that its next event appears. */
export const machineQuery = (id: string) => ({
  ...queryOf(machines.get, { params: { id } }, followed),
  select: permittedMachine,
});

/** For each release, why this machine is or is not offered it. */
export const machineOffersQuery = (id: string) => queryOf(machines.explain, { params: { id } }, followed);

const filterOf = ({ search, customer, platform, version, state, seen, unseen, sort }: MachinesSearch) => ({
  search,
  customerId: customer,
  platform,
  version,
  state,
  seenWithinDays: seen,
  unseenForDays: unseen,
  sort,
});

/** What a saved view of the list holds. */
export const machinesView = {
  names: ['search', 'customer', 'platform', 'version', 'state', 'seen', 'unseen', 'sort'],
  read: machinesSearch,
};

const unlicensed = { state: null, code: null, since: null, license: null, seat: null, offlineUntil: null };
const permittedStanding = asPreviewed<MachineStanding>((standing, reads) => ({
  ...standing,
  ...(!reads('licenses') && unlicensed),
  ...(!reads('customers') && { customer: null }),
}));
const permittedStandings = ({ data, ...page }: RouteAnswer<typeof machineStandings.list>) => ({
  ...page,
  data: data.map(permittedStanding),
});

/** A page of all machines. */
export const machinesListQuery = ({ page, ...search }: MachinesSearch) => ({
  ...queryOf(
    machineStandings.list,
    { query: { ...filterOf(search), ...pageOf(page, machinePages.pageSize) } },
    { ...live, placeholderData: keepPreviousData },
  ),
  select: permittedStandings,
});

export const machinesExportUrl = (search: MachinesSearch): string =>
  urlOf(machineStandings.exportCsv, { query: filterOf(search) });

/** Where a machine stands: its license and seat, and since when it is refused. */
export const standingQuery = (id: string) => ({
  ...queryOf(machineStandings.get, { params: { id } }, followed),
  select: permittedStanding,
});

const permittedRuns = asPreviewed<TimelineRun[]>((runs, reads) =>
  reads('licenses') ? runs : runs.filter(({ kind }) => kind !== 'validation'),
);
const runsOf = ({ pages }: InfiniteData<RouteAnswer<typeof machineStandings.timeline>>) =>
  pages.flatMap(({ data }) => permittedRuns(data));

/** What a machine did, page by page, the latest first. */
export const timelineQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['machines', 'timeline', id],
    queryFn: ({ signal, pageParam }) =>
      call(
        machineStandings.timeline,
        { params: { id }, query: pageParam === null ? {} : { before: pageParam } },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next,
    select: runsOf,
    ...liveFirstPage,
    retry: retryOnce,
  });

/** The first few machines that match all words of `text`. */
export const findMachines = async (text: string, limit: number, signal: AbortSignal) =>
  permittedStandings(
    await call(machineStandings.list, { query: { search: text, limit: String(limit) } }, { signal }),
  );

export const endEnrollment = (activationId: string) => call(credentials.end, { params: { activationId } });
