import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { megabytesText } from '../../ui/bytes.ts';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import { downloadStatus } from './download-status.ts';
import classes from './machines.module.css';
import type { MachineDetail } from './queries.ts';

type Download = MachineDetail['downloadHistory'][number];
type Activation = MachineDetail['activations'][number];

const downloadColumns: Column<Download>[] = [
  { id: 'version', header: 'Version', cell: (row) => row.version ?? 'Unknown' },
  { id: 'startedAt', header: 'Started', cell: (row) => momentText(row.startedAt) },
  {
    id: 'completedAt',
    header: 'Completed',
    cell: (row) => (row.completedAt ? momentText(row.completedAt) : '-'),
  },
  {
    id: 'bytesDownloaded',
    header: 'Downloaded',
    align: 'right',
    cell: (row) => (row.bytesDownloaded ? megabytesText(row.bytesDownloaded) : '-'),
  },
  {
    id: 'status',
    header: 'Status',
    cell: (row) => {
      const { word, tone } = downloadStatus(row);
      return <StatusBadge tone={tone}>{word}</StatusBadge>;
    },
  },
];

export function Downloads({ downloads }: { downloads: Download[] }) {
  return (
    <div className={classes.table}>
      <DataTable
        label="Downloads"
        columns={downloadColumns}
        rows={downloads}
        rowId={(download) => download.id}
        empty={<EmptyState title="No downloads">This machine has downloaded nothing yet.</EmptyState>}
      />
    </div>
  );
}

const activationColumns: Column<Activation>[] = [
  { id: 'licenseKey', header: 'License Key', cell: (row) => <LicenseKey licenseKey={row.licenseKey} /> },
  {
    id: 'status',
    header: 'Status',
    cell: (row) => <StatusBadge tone={row.status === 'active' ? 'teal' : 'red'}>{row.status}</StatusBadge>,
  },
  { id: 'createdAt', header: 'Created', cell: (row) => momentText(row.createdAt) },
];

/** Links to the activations of the license, for users who may see licenses. */
function LicenseKey({ licenseKey }: { licenseKey: string }) {
  const { can } = useAuth();
  if (!can.viewLicenses) return <span className="mono">{licenseKey}</span>;
  return (
    <Anchor
      component={Link}
      to={paths.licenses}
      search={{ search: licenseKey, activations: licenseKey } as never}
      className="mono"
    >
      {licenseKey}
    </Anchor>
  );
}

export function Activations({ activations }: { activations: Activation[] }) {
  return (
    <div className={classes.table}>
      <DataTable
        label="License activations"
        columns={activationColumns}
        rows={activations}
        rowId={(activation) => activation.activationId}
        empty={<EmptyState title="No license activations">No license runs on this machine.</EmptyState>}
      />
    </div>
  );
}
