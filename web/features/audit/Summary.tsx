import type { AuditEntry } from '../../../contract/audit.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';

/** What happened, with the record that it begins with linked to its page. */
export function Summary({ of: { changes_summary, subject } }: { of: AuditEntry }) {
  const end = changes_summary.indexOf(': ');
  if (!subject || end < 0) return changes_summary;
  return (
    <>
      <RecordLink kind={subject.kind} id={subject.id} inherit>
        {changes_summary.slice(0, end)}
      </RecordLink>
      {changes_summary.slice(end)}
    </>
  );
}
