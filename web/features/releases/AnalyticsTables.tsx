import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ReleaseAnalytics } from '../../../contract/releases.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { mostShown, rateTone, successRate, type ReleaseStat } from './analytics-figures.ts';
import { ChannelBadge } from './release-cells.tsx';
import { platformText, unusualKind } from './release-labels.ts';
import classes from './analytics.module.css';

type Activity = ReleaseAnalytics['machineActivity'][number];

const machineColumns: Column<Activity>[] = [
  {
    id: 'displayId',
    header: 'Machine ID',
    cell: (row) => (
      <Anchor
        component={Link}
        to={paths.machine}
        params={{ machineId: row.displayId } as never}
        className="mono"
      >
        {row.displayId}
      </Anchor>
    ),
  },
  { id: 'platform', header: 'Platform', cell: (row) => platformText(row.platform, row.architecture) },
  { id: 'lastVersion', header: 'Current Version', cell: (row) => row.lastVersion ?? 'Unknown' },
  { id: 'lastSeen', header: 'Last Seen', cell: (row) => <RelativeTime value={row.lastSeen} /> },
  {
    id: 'totalEvents',
    header: 'Total Events',
    align: 'right',
    width: 120,
    cell: (row) => row.totalEvents.toLocaleString('en'),
  },
];

export function MachineActivity({ machines }: { machines: Activity[] | undefined }) {
  return (
    <Titled title="Recently Active Machines">
      <DataTable
        label="Recently Active Machines"
        columns={machineColumns}
        rows={machines?.slice(0, mostShown)}
        rowId={(machine) => machine.displayId}
        empty={<EmptyState title="No machines yet">Machines appear here once they check.</EmptyState>}
      />
    </Titled>
  );
}

const performanceColumns: Column<ReleaseStat>[] = [
  { id: 'version', header: 'Version', cell: (row) => row.version },
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
    cell: (row) => row.uniqueDownloads.toLocaleString('en'),
  },
  {
    id: 'successRate',
    header: 'Success Rate',
    align: 'right',
    width: 120,
    cell: (row) => {
      const rate = successRate(row);
      return <StatusBadge tone={rateTone(rate)}>{rate}%</StatusBadge>;
    },
  },
];

export function ReleasePerformance({ stats }: { stats: ReleaseStat[] | undefined }) {
  return (
    <Titled title="Release Performance">
      <DataTable
        label="Release Performance"
        columns={performanceColumns}
        rows={stats?.slice(0, mostShown)}
        rowId={(stat) => stat.id}
        empty={<EmptyState title="No releases yet">Downloads appear here once there is one.</EmptyState>}
      />
    </Titled>
  );
}

function Titled({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className={classes.title}>{title}</h2>
      {children}
    </section>
  );
}
