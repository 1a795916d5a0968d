import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Release } from '../../../contract/releases.ts';
import type { RolloutAttention } from '../../../contract/rollout-attention.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { LoadError } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { megabytesText } from '../../ui/bytes.ts';
import { AsOf } from '../../ui/AsOf.tsx';
import { FilterChips } from '../../ui/FilterChips.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterNote } from '../../ui/FilterNote.tsx';
import { FilterRow } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import { LazyChangeRelease, type AskedChange } from './lazy.ts';
import { openViewOf, Views } from '../views/index.ts';
import { releaseChips } from './release-chips.ts';
import { releaseActions } from './release-actions.ts';
import { releaseColumns } from './release-columns.tsx';
import { buildText, inSeveralKinds } from './release-labels.ts';
import { ReleaseFilters } from './ReleaseFilters.tsx';
import classes from './releases.module.css';
import { pageSize, releaseListQuery, releaseView } from './queries.ts';
import { useReleasesSearch } from './releases-search.ts';
import { VersionStrip } from './VersionStrip.tsx';
import { buildsText, newestFirst } from './version-groups.ts';
import { countText } from '../../ui/numbers.ts';

const count = (value: number | undefined) => (value === undefined ? value : countText(value));

const attentionNotes: Record<RolloutAttention, string> = {
  damaged: 'Only releases with a damaged file',
  failing: 'Only rollouts that failed and paused themselves',
  claimed: 'Only releases that fail on machines without a token',
  paused: 'Only rollouts that somebody paused',
  ready: 'Only rollouts that are ready for the next step',
};

/** Tiles, filters and releases grouped by version. */
export function ReleaseList() {
  const { search, change } = useReleasesSearch();
  const { can } = useAuth();
  const navigate = useNavigate();
  const list = useQuery(releaseListQuery(search));
  const [asked, setAsked] = useKept<AskedChange>('open: change release');
  const askTo = (kind: AskedChange['change'], allowed: boolean) =>
    allowed ? (release: Release) => setAsked({ change: kind, release }) : undefined;
  const { attention } = search;
  const meta = list.data?.meta;
  const rows = useMemo(() => list.data && newestFirst(list.data.data), [list.data]);
  const severalKinds = useMemo(() => inSeveralKinds(rows ?? []), [rows]);

  const filters = releaseChips(search);
  const viewed = { list: 'releases', search, params: releaseView } as const;
  const handlers = {
    onOpen: (release: Release) => void navigate({ to: paths.release, params: { releaseId: release.id } }),
    onEdit: can.updateReleases ? (release: Release) => change({ edit: release.id }) : undefined,
    onPause: askTo('pause', can.manageRollouts),
    onResume: askTo('resume', can.manageRollouts),
    onWithdraw: askTo('withdraw', can.updateReleases),
    onDelete: askTo('softDelete', can.deleteReleases),
  };

  if (list.isError && !list.data) {
    return <LoadError title="Error loading releases" query={list} />;
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
        left={<ListSearch search={search} change={change} placeholder="Search version or notes..." />}
        right={
          <>
            <AsOf queries={[list]} />
            <Views {...viewed} />
          </>
        }
        filters={<ReleaseFilters />}
        filtersSet={filters.chips.length}
      />
      <FilterChips {...filters} before={openViewOf(viewed)} change={change} />
      {attention && (
        <FilterNote onClear={() => change({ attention: undefined })}>{attentionNotes[attention]}</FilterNote>
      )}
      <DataTable
        label="Releases"
        columns={releaseColumns(severalKinds)}
        rows={rows}
        rowId={(release) => release.id}
        rowLabel={buildText}
        actions={(release) => releaseActions(release, handlers)}
        groups={versionGroups(
          rows ?? [],
          meta ?? { offset: 0, total: 0 },
          askTo('widen', can.manageRollouts),
        )}
        stale={list.isPlaceholderData}
        empty={<NoReleases />}
      />
      <ListPages search={search} change={change} pageSize={pageSize} mostSkipped={null} list={list} />
      <LazyDialogs>
        {asked && <LazyChangeRelease {...asked} onClose={() => setAsked(undefined)} />}
      </LazyDialogs>
    </>
  );
}

const versionGroups = (
  shown: readonly Release[],
  page: { offset: number; total: number },
  onWiden: ((release: Release) => void) | undefined,
) => ({
  of: (release: Release) => release.version,
  isCollapsed: () => false,
  header: (version: string, rows: Release[]) => (
    <>
      <h2 className={`heading ${classes.version}`}>
        <span className="ellipsis">Version {version}</span>
        <Text span size="xs" c="dimmed" flex="none">
          {buildsText(version, shown, page)}
        </Text>
      </h2>
      <VersionStrip releases={rows} shown={shown} onWiden={onWiden} />
    </>
  ),
});

function NoReleases() {
  const { search, change } = useReleasesSearch();
  const filtered =
    search.search || search.platform || search.channel || search.architecture || search.attention;
  return (
    <EmptyState
      onClear={
        filtered
          ? () =>
              change({
                ...releaseChips(search).none,
                inactive: search.inactive,
                search: undefined,
                attention: undefined,
              })
          : undefined
      }
    >
      No releases found matching your filters.
    </EmptyState>
  );
}
