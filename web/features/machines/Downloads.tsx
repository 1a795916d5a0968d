import { RecordLink } from '../../shell/RecordLink.tsx';
import { megabytesText } from '../../ui/bytes.ts';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import { downloadStatus } from './download-status.ts';
import type { MachineDetail } from './queries.ts';

type Download = MachineDetail['downloadHistory'][number];

const downloadColumns: Column<Download>[] = [
  {
    id: 'version',
    header: 'Version',
    cell: (row) => (
      <RecordLink kind="release" id={row.releaseId}>
        {row.version}
      </RecordLink>
    ),
  },
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

/** `total`: as many as there ever were. */
export function Downloads({ downloads, total }: { downloads: Download[]; total: number }) {
  return (
    <div className="bounded">
      <DataTable
        label="Downloads"
        columns={downloadColumns}
        rows={downloads}
        rowId={(download) => download.id}
        empty={
          <EmptyState title="No downloads">
            {total === 0
              ? 'This machine has downloaded nothing yet.'
              : 'The releases that this machine downloaded are permanently deleted.'}
          </EmptyState>
        }
      />
    </div>
  );
}
