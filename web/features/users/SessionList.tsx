import { Button } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { OpenSession } from '../../../contract/users.ts';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { pressOnce } from '../../ui/press-once.ts';
import { ExactTime } from '../../ui/RelativeTime.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { shortUserAgent } from './user-agent.ts';

/** Ends a session by its id. */
type End = UseMutationResult<unknown, Error, string>;

/** Open sessions of a user: address, browser, start, and an End button. */
export default function SessionList({ sessions, end }: { sessions: OpenSession[] | undefined; end: End }) {
  if (sessions?.length === 0) return 'There is no open session.';
  return (
    <DataTable
      label="Open sessions"
      columns={columns(end)}
      rows={sessions}
      rowId={({ sessionId }) => sessionId}
    />
  );
}

/** In two lines: four columns and a button share a dialog. */
const At = ({ value }: { value: string }) => (
  <div style={{ display: 'grid', padding: '5px 0' }}>
    <ExactTime value={value} />
  </div>
);

const columns = (end: End): Column<OpenSession>[] => [
  {
    id: 'userAgent',
    header: 'Browser',
    cell: (session) => (
      <span title={session.userAgent}>
        {shortUserAgent(session.userAgent)}{' '}
        {session.current && <StatusBadge tone="teal">This session</StatusBadge>}
      </span>
    ),
  },
  {
    id: 'ipAddress',
    header: 'Address',
    cell: (session) => <span className="mono">{session.ipAddress}</span>,
  },
  { id: 'createdAt', header: 'Signed in', cell: (session) => <At value={session.createdAt} /> },
  { id: 'lastSeenAt', header: 'Last seen', cell: (session) => <At value={session.lastSeenAt} /> },
  actionsColumn((session) => (
    <DisabledReason
      reason={session.current ? 'This is the session you are using: choose Logout to end it.' : null}
    >
      <Button
        variant="subtle"
        size="compact-xs"
        loading={end.isPending && end.variables === session.sessionId}
        // the next session takes the place of the one that was ended
        {...pressOnce(() => end.mutate(session.sessionId))}
      >
        End
      </Button>
    </DisabledReason>
  )),
];
