import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, useMemo } from 'react';
import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { ClearSearch } from '../../ui/ClearSearch.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { megabytesText } from '../../ui/bytes.ts';
import { AsOf } from '../../ui/AsOf.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterRow } from '../../ui/Page.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import { releaseColumns } from './release-columns.tsx';
import { inSeveralKinds } from './release-labels.ts';
import { ReleaseFilters } from './ReleaseFilters.tsx';
import classes from './releases.module.css';
import { pageSize, releaseListQuery } from './queries.ts';
import { useReleasesSearch } from './releases-search.ts';
import { newestFirst } from './version-groups.ts';

const DeleteRelease = lazy(() => import('./DeleteRelease.tsx'));
const PauseRollout = lazy(() => import('./PauseRollout.tsx'));
const ResumeRollout = lazy(() => import('./ResumeRollout.tsx'));
const WithdrawRelease = lazy(() => import('./WithdrawRelease.tsx'));

const count = (value: number | undefined) => value?.toLocaleString('en');

/** Tiles, filters and releases grouped by version. */
export function ReleaseList() {
  const { search, change } = useReleasesSearch();
  const { can } = useAuth();
  const list = useQuery(releaseListQuery(search));
  const [toDelete, setToDelete] = useKept<Release>('open: delete release');
  const [toPause, setToPause] = useKept<Release>('open: pause rollout');
  const [toResume, setToResume] = useKept<Release>('open: resume rollout');
  const [toWithdraw, setToWithdraw] = useKept<Release>('open: withdraw release');
  const meta = list.data?.meta;
  const rows = useMemo(() => list.data && newestFirst(list.data.data), [list.data]);
  const severalKinds = useMemo(() => inSeveralKinds(rows ?? []), [rows]);

  if (list.isError && !list.data) {
    return (
      <ErrorState
        title="Error loading releases"
        message={messageOf(list.error)}
        onRetry={() => void list.refetch()}
      />
    );
  }
  return (
    <>
      <Tiles
        label="All releases"
        tiles={{
          'Total Releases': count(meta?.totalReleases),
          'Active Releases': count(meta?.activeReleases),
          'Unique Versions': count(meta?.uniqueVersions),
          'Storage Used': meta && megabytesText(meta.storageBytes),
        }}
      />
      <FilterRow
        left={
          <SearchBox
            value={search.search ?? ''}
            onChange={(text) => change({ search: text || undefined })}
            placeholder="Search version or notes..."
          />
        }
        right={<AsOf queries={[list]} />}
        filters={<ReleaseFilters search={search} onChange={change} />}
        filtersSet={
          [search.platform, search.channel, search.architecture, search.inactive].filter(Boolean).length
        }
      />
      <div className={classes.list}>
        <DataTable
          label="Releases"
          columns={releaseColumns(
            {
              onEdit: can.updateReleases ? (release) => change({ edit: release.id }) : undefined,
              onPause: can.manageRollouts ? setToPause : undefined,
              onResume: can.manageRollouts ? setToResume : undefined,
              onWithdraw: can.updateReleases ? setToWithdraw : undefined,
              onDelete: can.deleteReleases ? setToDelete : undefined,
            },
            severalKinds,
          )}
          rows={rows}
          rowId={(release) => release.id}
          groups={versionGroups}
          stale={list.isPlaceholderData}
          empty={<NoReleases />}
        />
      </div>
      <Pagination
        page={search.page ?? 1}
        pageSize={pageSize}
        total={meta?.total}
        onPage={(page, how) => change({ page: page > 1 ? page : undefined }, how)}
      />
      <LazyDialogs>
        {toDelete && <DeleteRelease release={toDelete} onClose={() => setToDelete(undefined)} />}
        {toPause && <PauseRollout release={toPause} onClose={() => setToPause(undefined)} />}
        {toResume && <ResumeRollout release={toResume} onClose={() => setToResume(undefined)} />}
        {toWithdraw && <WithdrawRelease release={toWithdraw} onClose={() => setToWithdraw(undefined)} />}
      </LazyDialogs>
    </>
  );
}

const versionGroups = {
  of: (release: Release) => release.version,
  isCollapsed: () => false,
  header: (version: string, rows: Release[]) => (
    <h2 className={classes.version}>
      Version {version}
      {rows.length > 1 && (
        <Text span size="xs" c="dimmed" ml={8}>
          {rows.length} builds
        </Text>
      )}
    </h2>
  ),
};

function NoReleases() {
  const { search, change } = useReleasesSearch();
  const filtered = search.search || search.platform || search.channel || search.architecture;
  return (
    <EmptyState
      action={
        filtered && (
          <ClearSearch
            onClear={() =>
              change({
                search: undefined,
                platform: undefined,
                channel: undefined,
                architecture: undefined,
              })
            }
          />
        )
      }
    >
      No releases found matching your filters.
    </EmptyState>
  );
}
