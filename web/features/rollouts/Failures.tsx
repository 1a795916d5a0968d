import type { RolloutProgress } from '../../../contract/rollouts.ts';
import { MachineLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { countColumn, type Column } from '../../ui/data-table.ts';
import { EmptyState } from '../../ui/states.tsx';
import classes from './rollouts.module.css';

type Failure = RolloutProgress['failures'][number];
type From = RolloutProgress['fromVersions'][number];

const failureColumns: Column<Failure>[] = [
  { id: 'code', header: 'Code', cell: ({ code }) => code ?? 'No code' },
  countColumn('machines', 'Machines', 110),
  {
    id: 'latest',
    header: 'Last of Them',
    width: '60%',
    cell: ({ latest }) => (
      <span className={classes.links}>
        {latest.map((displayId) => (
          <MachineLink key={displayId} displayId={displayId} />
        ))}
      </span>
    ),
  },
];

/** Why installs failed, the most frequent code first. */
export const Failures = ({ failures }: { failures: Failure[] }) => (
  <Card title="Failures by Code">
    <DataTable
      label="Failures, most frequent first"
      columns={failureColumns}
      rows={failures}
      rowId={({ code }) => code ?? ''}
      empty={<EmptyState title="No failures">No install has failed.</EmptyState>}
    />
  </Card>
);

const fromColumns: Column<From>[] = [
  { id: 'version', header: 'Version', cell: ({ version }) => version ?? 'Unknown' },
  countColumn('machines', 'Machines', 110),
];

/** The versions that machines installed it from. */
export const FromVersions = ({ fromVersions }: { fromVersions: From[] }) => (
  <Card title="Machines Came From">
    <DataTable
      label="Versions that machines came from"
      columns={fromColumns}
      rows={fromVersions}
      rowId={({ version }) => version ?? ''}
      empty={<EmptyState title="No installs yet">Versions appear here once machines install it.</EmptyState>}
    />
  </Card>
);
