import { useQuery } from '@tanstack/react-query';
import { actorText } from '../../actor-text.ts';
import { live } from '../../live.ts';
import { HistoryCard } from '../../shell/HistoryCard.tsx';
import { useAuth } from '../../session.tsx';
import { auditListQuery } from './queries.ts';
import { Summary } from './Summary.tsx';
import { RecordHistoryLink } from './RecordHistoryLink.tsx';

/** The latest changes of a record, for users who may read the audit log. */
export function RecordHistory(props: { resourceType: string; resourceId: string }) {
  const { can } = useAuth();
  return can.viewAudit ? <History {...props} /> : null;
}

function History(of: { resourceType: string; resourceId: string }) {
  const list = useQuery({ ...auditListQuery(of), ...live });
  return (
    <HistoryCard
      title="History"
      actions={<RecordHistoryLink {...of} />}
      query={list}
      lines={list.data?.entries.map((entry) => ({
        id: entry.audit_id,
        at: entry.timestamp,
        by: actorText(entry.user_email, entry.event_type),
        what: <Summary of={entry} />,
      }))}
    >
      {list.data?.hasMore && <p className="dimmed small">The latest {list.data.entries.length} are shown.</p>}
    </HistoryCard>
  );
}
