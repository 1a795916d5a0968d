import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { trashDays } from '../../../contract/releases.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { useSearch } from '../../use-search.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { FilterNote } from '../../ui/FilterNote.tsx';
import { FilterRow, Page } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import type { ReleaseTrashSearch } from './releases-search.ts';
import { LazyChangeRelease, type AskedChange } from './lazy.ts';
import { releaseTrashQuery, trashPageSize } from './queries.ts';
import { buildText } from './release-labels.ts';
import { trashActions } from './trash-actions.ts';
import { trashColumns } from './trash-columns.tsx';

const route = getRouteApi('/signed-in/releases/trash');
const mayNot = 'You may not delete releases';

/** Deleted releases, to be restored or permanently deleted (spec part 2, section 2.5). */
export function ReleaseTrashPage() {
  const { search, change } = useSearch<ReleaseTrashSearch>(route);
  const { can } = useAuth();
  const trash = useQuery(releaseTrashQuery(search));
  const [asked, setAsked] = useKept<AskedChange>('open: change deleted release');

  return (
    <Page title="Release Recycle Bin" back={{ to: paths.releases, label: 'Back to Releases' }}>
      <Text c="dimmed" style={{ marginTop: -12 }}>
        Deleted releases are kept for {trashDays} days before permanent deletion.
      </Text>
      <FilterRow left={<ListSearch search={search} change={change} placeholder="Search by version..." />} />
      {search.due && (
        <FilterNote onClear={() => change({ due: undefined })}>
          Only releases that are permanently deleted within {search.due} days
        </FilterNote>
      )}
      <Loaded query={trash} title="Failed to load deleted releases">
        <DataTable
          label="Deleted releases"
          columns={trashColumns}
          rows={trash.data?.releases}
          rowId={(release) => release.id}
          rowLabel={buildText}
          actions={(release) =>
            trashActions(release, {
              onRestore: () => setAsked({ change: 'restore', release }),
              onDelete: () => setAsked({ change: 'deletePermanently', release }),
              whyNot: can.deleteReleases ? null : mayNot,
              mayPublish: can.manageRollouts,
            })
          }
          stale={trash.isPlaceholderData}
          empty={
            <EmptyState
              title="No deleted releases"
              onClear={
                search.search || search.due
                  ? () => change({ search: undefined, due: undefined, page: undefined })
                  : undefined
              }
            >
              {search.search
                ? 'No version matches your search.'
                : search.due
                  ? `None is permanently deleted within ${search.due} days.`
                  : 'The recycle bin is empty.'}
            </EmptyState>
          }
        />
        <ListPages search={search} change={change} pageSize={trashPageSize} mostSkipped={null} list={trash} />
      </Loaded>
      <LazyDialogs>
        {asked && <LazyChangeRelease {...asked} onClose={() => setAsked(undefined)} />}
      </LazyDialogs>
    </Page>
  );
}
