import type { ReactNode } from 'react';
import { Loaded } from '../LoadError.tsx';
import { RecordLink, UserLink } from './RecordLink.tsx';
import { Card } from '../ui/Card.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import { RelativeTime } from '../ui/RelativeTime.tsx';
import { EmptyState } from '../ui/states.tsx';

/** A line of a history, by the id of its audit entry: when, by whom as the audit log says it, what. */
export type HistoryLine = { id: string; at: string; by: string; what: ReactNode };

const columns = [
  {
    id: 'at',
    header: 'When',
    width: 140,
    cell: ({ id, at }: HistoryLine) => (
      <RecordLink kind="audit_entry" id={id}>
        <RelativeTime value={at} />
      </RecordLink>
    ),
  },
  {
    id: 'by',
    header: 'By',
    width: 220,
    cell: ({ by }: HistoryLine) => (by === 'system' ? 'Lanyard' : <UserLink by={by} />),
  },
  {
    id: 'what',
    header: 'What',
    cell: ({ what }: HistoryLine) => (
      <span style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{what}</span>
    ),
  },
];

/** What was done, newest first. `children`: below the lines. */
export function HistoryCard(props: {
  title: string;
  query: { isLoadingError: boolean; error: unknown; refetch: () => unknown };
  lines: HistoryLine[] | undefined;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  const { title, query, lines, actions, children } = props;
  return (
    <Card title={title} actions={actions}>
      <Loaded query={query} title={`Error loading the ${title.toLowerCase()}`}>
        <DataTable
          label={`Entries of the ${title.toLowerCase()}`}
          columns={columns}
          rows={lines}
          rowId={({ id }) => id}
          empty={<EmptyState title="Nothing yet">Changes appear here.</EmptyState>}
        />
        {children}
      </Loaded>
    </Card>
  );
}
