import type { ReleaseAnalytics } from '../../../contract/releases.ts';
import { MachineLink, RecordLink } from '../../shell/RecordLink.tsx';
import { countColumn, type Column, type DataTableProps } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { OfWhichProven } from '../../ui/OfWhichProven.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { mostShown, successRate, type ReleaseStat } from './analytics-figures.ts';
import { ChannelBadge } from './release-cells.tsx';
import { platformText } from '../../platform-text.ts';
import { unusualKind } from './release-labels.ts';

type Activity = ReleaseAnalytics['machineActivity'][number];

const machineColumns: Column<Activity>[] = [
  {
    id: 'displayId',
    header: 'Machine ID',
    cell: (row) => (
      <>
        <MachineLink displayId={row.displayId} />{' '}
        {row.provenAt && <StatusBadge tone="teal">Proven</StatusBadge>}
      </>
    ),
  },
  { id: 'platform', header: 'Platform', cell: (row) => platformText(row.platform, row.architecture) },
  { id: 'lastVersion', header: 'Current Version', cell: (row) => row.lastVersion ?? 'Unknown' },
  { id: 'lastSeen', header: 'Last Seen', cell: (row) => <RelativeTime value={row.lastSeen} /> },
  countColumn('totalEvents', 'Total Events', 120),
];

export const MachineActivity = ({ machines }: { machines: Activity[] | undefined }) => (
  <TopTable
    title="Recently Active Machines"
    columns={machineColumns}
    rows={machines}
    rowId={(machine) => machine.displayId}
    empty={<EmptyState title="No machines yet">Machines appear here once they check.</EmptyState>}
  />
);

const performanceColumns: Column<ReleaseStat>[] = [
  {
    id: 'version',
    header: 'Version',
    cell: (row) => (
      <RecordLink kind="release" id={row.id}>
        {row.version}
      </RecordLink>
    ),
  },
  { id: 'channel', header: 'Channel', cell: (row) => <ChannelBadge channel={row.channel} /> },
  {
    id: 'platform',
    header: 'Platform',
    cell: (row) =>
      [platformText(row.platform, row.architecture), unusualKind(row.fileKind)].filter(Boolean).join(' '),
  },
  {
    id: 'uniqueDownloads',
    header: 'Unique Downloads',
    align: 'right',
    cell: (row) => <OfWhichProven all={row.uniqueDownloads} proven={row.provenDownloads} />,
  },
  {
    id: 'successRate',
    header: 'Success Rate',
    align: 'right',
    width: 120,
    cell: (row) => {
      const { text, tone } = successRate(row);
      return <StatusBadge tone={tone}>{text}%</StatusBadge>;
    },
  },
];

export const ReleasePerformance = ({ stats }: { stats: ReleaseStat[] | undefined }) => (
  <TopTable
    title="Release Performance"
    columns={performanceColumns}
    rows={stats}
    rowId={(stat) => stat.id}
    empty={<EmptyState title="No releases yet">Downloads appear here once there is one.</EmptyState>}
  />
);

/** The first rows of a list, below a title. */
function TopTable<Row>({ title, ...list }: { title: string } & Omit<DataTableProps<Row>, 'label'>) {
  return (
    <section>
      <h2 className="heading" style={{ margin: '6px 0 8px' }}>
        {title}
      </h2>
      <DataTable {...list} label={title} rows={list.rows?.slice(0, mostShown)} />
    </section>
  );
}
