import type { UseQueryResult } from '@tanstack/react-query';
import type { rollouts } from '../../../contract/rollouts.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { LoadError } from '../../LoadError.tsx';
import { Card } from '../../ui/Card.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './rollouts.module.css';

type Done = RouteAnswer<typeof rollouts.history>[number];

const columns: Column<Done>[] = [
  { id: 'at', header: 'When', width: 140, cell: ({ at }) => <RelativeTime value={at} /> },
  { id: 'by', header: 'By', width: 220, cell: ({ by }) => (by === 'system' ? 'Lanyard' : by) },
  { id: 'what', header: 'What', cell: ({ what }) => <span className={classes.what}>{what}</span> },
];

/** Everything that was done to a release, the newest first. */
export function History({ history }: { history: UseQueryResult<Done[], unknown> }) {
  return (
    <Card title="History">
      {history.isLoadingError ? (
        <LoadError title="Error loading the history" query={history} />
      ) : (
        <DataTable
          label="History of the release"
          columns={columns}
          rows={history.data}
          rowId={({ id }) => id}
          empty={<EmptyState title="Nothing yet">Changes appear here.</EmptyState>}
        />
      )}
    </Card>
  );
}
