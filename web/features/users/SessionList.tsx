import { Button, Skeleton, Table } from '@mantine/core';
import type { OpenSession } from '../../../contract/users.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { shortUserAgent } from './user-agent.ts';

/** Open sessions of a person: from where, with what, since when, and End. */
export default function SessionList(props: {
  sessions: OpenSession[] | undefined;
  ending: string | undefined;
  onEnd: (session: OpenSession) => void;
}) {
  const { sessions, ending, onEnd } = props;
  if (!sessions) return <Skeleton height={90} radius={4} aria-busy aria-label="Loading" />;
  if (sessions.length === 0) return 'There is no open session.';
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table aria-label="Open sessions" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Browser</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th>Signed in</Table.Th>
            <Table.Th>Last seen</Table.Th>
            <Table.Th>
              <span className="visually-hidden">Actions</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <Table.Tr key={session.sessionId}>
              <Table.Td title={session.userAgent}>
                {shortUserAgent(session.userAgent)}{' '}
                {session.current && <StatusBadge tone="teal">This session</StatusBadge>}
              </Table.Td>
              <Table.Td className="mono">{session.ipAddress}</Table.Td>
              <Table.Td>
                <RelativeTime value={session.createdAt} />
              </Table.Td>
              <Table.Td>
                <RelativeTime value={session.lastSeenAt} />
              </Table.Td>
              <Table.Td ta="right">
                <DisabledReason
                  reason={
                    session.current ? 'This is the session you are using: choose Logout to end it.' : null
                  }
                >
                  <Button
                    variant="subtle"
                    size="compact-xs"
                    loading={ending === session.sessionId}
                    onClick={() => onEnd(session)}
                  >
                    End
                  </Button>
                </DisabledReason>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
