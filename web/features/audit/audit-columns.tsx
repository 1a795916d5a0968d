import { UnstyledButton } from '@mantine/core';
import type { AuditEntry } from '../../../contract/audit.ts';
import { labelOf } from '../../../contract/text.ts';
import { actorText } from '../../actor-text.ts';
import { UserLink } from '../../shell/RecordLink.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import type { Column } from '../../ui/data-table.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import { eventTone, rolesText, shortId } from './audit-labels.ts';
import { eventWord } from './audit-words.ts';
import { Summary } from './Summary.tsx';
import classes from './audit.module.css';

export const auditColumns = (onOpen: (id: string) => void): Column<AuditEntry>[] => [
  {
    id: 'timestamp',
    header: 'Timestamp',
    width: 170,
    cell: (entry) => (
      <UnstyledButton
        className={classes.open}
        aria-label={`Details of ${eventWord(entry.event_type)} at ${momentText(entry.timestamp)}`}
        onClick={() => onOpen(entry.audit_id)}
      >
        <time dateTime={entry.timestamp} title={entry.timestamp}>
          {momentText(entry.timestamp)}
        </time>
      </UnstyledButton>
    ),
  },
  {
    id: 'user_email',
    header: 'User',
    width: '38%',
    least: 110,
    cell: (entry) => (
      <Two
        first={
          <div className="ellipsis">
            <UserLink by={actorText(entry.user_email, entry.event_type)} />
          </div>
        }
        second={entry.user_role && rolesText(entry.user_role)}
      />
    ),
  },
  {
    id: 'event_type',
    header: 'Action',
    cell: (entry) => (
      <StatusBadge tone={eventTone(entry.event_type, entry.success)}>
        {eventWord(entry.event_type)}
      </StatusBadge>
    ),
  },
  {
    id: 'resource_type',
    header: 'Resource',
    cell: (entry) => (
      <Two
        first={labelOf(entry.resource_type)}
        second={
          entry.resource_id && (
            <CopyText
              value={entry.resource_id}
              shown={shortId(entry.resource_id)}
              what={`${labelOf(entry.resource_type)} ID`}
            />
          )
        }
      />
    ),
  },
  {
    id: 'changes_summary',
    header: 'Details',
    width: '62%',
    least: 120,
    cell: (entry) => <Two first={<Summary of={entry} />} second={entry.ip_address} />,
  },
  {
    id: 'success',
    header: 'Status',
    width: 90,
    pinned: true,
    cell: (entry) => (
      <span title={entry.error_message ?? undefined}>
        <StatusBadge tone={entry.success ? 'teal' : 'red'}>
          {entry.success ? 'Success' : 'Failed'}
        </StatusBadge>
      </span>
    ),
  },
];

/** A cell of two lines; the second is dimmed. */
function Two({ first, second }: { first: React.ReactNode; second: React.ReactNode }) {
  return (
    <div className={classes.two}>
      <div>{first}</div>
      {second && <div>{second}</div>}
    </div>
  );
}
