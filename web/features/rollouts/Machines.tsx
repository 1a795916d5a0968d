import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { RolloutMachine, RolloutProgress } from '../../../contract/rollouts.ts';
import { machineGroups } from '../../../contract/list-words.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { usePrintedPage } from '../../printed-list.ts';
import { oneOf } from '../../search-params.ts';
import { MachineLink, RecordLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import { counted } from '../../ui/counted.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import type { Column } from '../../ui/data-table.ts';
import { FilterRow } from '../../ui/Page.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { DownloadLink } from '../../ui/ListButtons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { shortDate } from '../../ui/time.ts';
import { useSearch } from '../../use-search.ts';
import { machinesCsvUrl, machinesQuery } from './queries.ts';
import { machinePages, type ReleaseSearch } from './release-search.ts';
import { countText } from '../../ui/numbers.ts';

const route = getRouteApi('/signed-in/releases/$releaseId');

const groupLabels = { running: 'Run it now', failed: 'Failed', affected: 'At withdrawal' };

const none = {
  running: 'No machine runs it now.',
  failed: 'No machine has failed to install it.',
  affected: 'No machine had it when it was withdrawn.',
};

const columns: Column<RolloutMachine>[] = [
  { id: 'machine', header: 'Machine', cell: ({ displayId }) => <MachineLink displayId={displayId} /> },
  {
    id: 'customers',
    header: 'Customers',
    width: '30%',
    cell: ({ customers }) =>
      customers?.map(({ customerId, name }, index) => (
        <Fragment key={customerId}>
          {index > 0 && ', '}
          <RecordLink kind="customer" id={customerId} inherit>
            {name}
          </RecordLink>
        </Fragment>
      )),
  },
  {
    id: 'runs',
    header: 'Runs',
    cell: ({ runs, movedOn }) => (movedOn ? `${runs ?? 'Unknown'} (moved on)` : runs),
  },
  { id: 'lastSeen', header: 'Last Seen', cell: ({ lastSeen }) => <RelativeTime value={lastSeen} /> },
  {
    id: 'installedAt',
    header: 'Installed',
    cell: ({ installedAt }) => installedAt && shortDate(installedAt),
  },
  { id: 'failedAt', header: 'Failed', cell: ({ failedAt }) => failedAt && shortDate(failedAt) },
  { id: 'failureCode', header: 'Failure', cell: ({ failureCode }) => failureCode },
];

/** The machines of a release, searched and as CSV; after a withdrawal, also those that had it then. */
export function Machines({ progress: { release, affected } }: { progress: RolloutProgress }) {
  const { search, change } = useSearch<ReleaseSearch>(route, { inRecord: true });
  const group = search.group ?? (affected ? 'affected' : 'running');
  const shown = { ...search, group };
  const { page, pageSize } = usePrintedPage(search.page, machinePages.pageSize);
  const machines = useQuery(machinesQuery(release.id, { ...shown, page }, pageSize));
  const hasCustomers = machines.data?.data.some(({ customers }) => customers !== null) ?? true;
  const groups = machineGroups.filter((one) => one !== 'affected' || affected);
  return (
    <Card title="Machines">
      {affected && (
        <Text mb={8}>
          {counted(affected.machines, 'machine')} had it when it was withdrawn on{' '}
          {shortDate(affected.withdrawnAt)}; {countText(affected.movedOn)} moved on since.
        </Text>
      )}
      <Stack gap="sm">
        <FilterRow
          left={
            <Group gap="xs">
              <SegmentedControl
                aria-label="Which machines"
                data={groups.map((value) => ({ value, label: groupLabels[value] }))}
                value={group}
                onChange={(value) => change({ group: oneOf(machineGroups, value) })}
              />
              <ListSearch search={search} change={change} placeholder="Search machine or host name..." />
            </Group>
          }
          right={<DownloadLink href={machinesCsvUrl(release.id, shown)}>CSV</DownloadLink>}
        />
        <Loaded query={machines} title="Error loading machines">
          <DataTable
            label="Machines of the release"
            columns={columns}
            columnVisibility={{
              customers: hasCustomers,
              installedAt: group !== 'failed',
              failedAt: group === 'failed',
              failureCode: group === 'failed',
            }}
            rows={machines.data?.data}
            rowId={({ displayId }) => displayId}
            stale={machines.isPlaceholderData}
            empty={
              search.search ? (
                <EmptyState title="No machines" onClear={() => change({ search: undefined })}>
                  No machine matches.
                </EmptyState>
              ) : (
                <EmptyState title="No machines">{none[group]}</EmptyState>
              )
            }
          />
        </Loaded>
        <ListPages search={{ page }} change={change} {...machinePages} pageSize={pageSize} list={machines} />
      </Stack>
    </Card>
  );
}
