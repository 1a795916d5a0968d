import { useQuery } from '@tanstack/react-query';
import type { AuditEntry } from '../../../contract/audit.ts';
import { LoadError } from '../../LoadError.tsx';
import { useAuth } from '../../session.tsx';
import { Card } from '../../ui/Card.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { userText } from './audit-labels.ts';
import { auditListQuery } from './queries.ts';
import { RecordHistoryLink } from './RecordHistoryLink.tsx';

const columns: Column<AuditEntry>[] = [
  { id: 'at', header: 'When', width: 140, cell: ({ timestamp }) => <RelativeTime value={timestamp} /> },
  { id: 'by', header: 'By', width: 220, cell: ({ user_email }) => userText(user_email) },
  {
    id: 'what',
    header: 'What',
    cell: (entry) => <span style={{ whiteSpace: 'normal' }}>{entry.changes_summary}</span>,
  },
];

/** The latest changes of a record, for users who may read the audit log. */
export function RecordHistory(props: { resourceType: string; resourceId: string }) {
  const { can } = useAuth();
  return can.viewAudit ? <History {...props} /> : null;
}

function History(of: { resourceType: string; resourceId: string }) {
  const list = useQuery(auditListQuery(of));
  return (
    <Card title="History" actions={<RecordHistoryLink {...of} />}>
      {list.isLoadingError ? (
        <LoadError title="Error loading the history" query={list} />
      ) : (
        <DataTable
          label="History"
          columns={columns}
          rows={list.data?.entries}
          rowId={({ audit_id }) => audit_id}
          empty={<EmptyState title="Nothing yet">Changes appear here.</EmptyState>}
        />
      )}
    </Card>
  );
}
