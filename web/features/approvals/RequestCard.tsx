import { Button, Group, Text } from '@mantine/core';
import { mayAskFor, type ChangeRequest } from '../../../contract/approvals.ts';
import { messageOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { RecordLink, UserLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { pressOnce } from '../../ui/press-once.ts';
import { ExactTime, RelativeTime } from '../../ui/RelativeTime.tsx';
import { StatusBadge, type Tone } from '../../ui/StatusBadge.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import classes from './approvals.module.css';
import { withdrawRequest } from './queries.ts';
import { OwnSummary } from '../audit/index.ts';
import { RequestChanges } from './RequestChanges.tsx';
import { aboutApproval } from '../../toast-subjects.ts';

const states: Record<ChangeRequest['state'], [Tone, string]> = {
  open: ['amber', 'Waiting'],
  approved: ['teal', 'Approved'],
  declined: ['red', 'Declined'],
  withdrawn: ['neutral', 'Withdrawn'],
  expired: ['neutral', 'Expired'],
};

type Props = { request: ChangeRequest; onApprove: () => void; onDecline: () => void };

/** A change that waits for approval: what exactly, who asked, until when, and what this user may do. */
export function RequestCard({ request, ...on }: Props) {
  return (
    <Card
      title={`${request.subject}: ${request.what}`}
      actions={
        <Group gap="sm">
          {request.releaseId && (
            <RecordLink kind="release" id={request.releaseId}>
              Open Release
            </RecordLink>
          )}
          <State request={request} />
        </Group>
      }
    >
      <Text c="dimmed" size="sm" mb="xs" style={{ overflowWrap: 'anywhere' }}>
        Requested by <UserLink by={request.requestedBy} inherit />{' '}
        <RelativeTime value={request.requestedAt} />. Expires <ExactTime value={request.expiresAt} />.
      </Text>
      <RequestChanges changes={request.changes} />
      <Since request={request} />
      {!request.requesterMay && (
        <div className="amber-note">
          <UserLink by={request.requestedBy} inherit c="inherit" /> may not make this change anymore, so it
          cannot be approved. Somebody else must ask.
        </div>
      )}
      <RequestButtons request={request} {...on} />
    </Card>
  );
}

/** What was done to the release since the request was made. */
function Since({ request: { since, subject } }: Pick<Props, 'request'>) {
  if (since.length === 0) return null;
  return (
    <section className="amber-note" aria-label={`Changes of ${subject} since the request`}>
      Changed since the request, which can therefore not be approved anymore:
      <ul className={classes.since}>
        {since.map(({ at, by, what }) => (
          <li key={`${at} ${what}`}>
            <OwnSummary event="release.updated" what={what} />, by <UserLink by={by} inherit c="inherit" />{' '}
            <RelativeTime value={at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function State({ request }: { request: ChangeRequest }) {
  const [tone, label] = states[request.state];
  const isOutdated = request.state === 'open' && (request.isOutdated || !request.requesterMay);
  return <StatusBadge tone={isOutdated ? 'neutral' : tone}>{isOutdated ? 'Outdated' : label}</StatusBadge>;
}

function RequestButtons({ request, onApprove, onDecline }: Props) {
  const { user, can, permissions } = useAuth();
  const withdraw = useChange({
    mutationFn: () => withdrawRequest(request),
    onSuccess: () => void toast({ message: 'Request withdrawn', subject: aboutApproval(request) }),
    onError: (error) =>
      void toast({ message: messageOf(error), subject: aboutApproval(request), tone: 'red' }),
  });
  const mayNot = can.manageRollouts ? null : 'You may not manage rollouts';
  const whyNot = request.isOutdated
    ? 'It has changed since the request was made'
    : request.requesterMay
      ? mayAskFor(request.call, permissions)
        ? null
        : 'You may not make this change'
      : 'Who asked may not make this change anymore';
  return (
    <Group justify="flex-end" gap="xs" mt="sm">
      {request.requestedById === user?.userId ? (
        <>
          {request.requesterMay && (
            <Text c="dimmed" size="sm">
              {request.isOutdated ? 'Withdraw it and ask again.' : 'Somebody else must approve your request.'}
            </Text>
          )}
          <Button variant="default" loading={withdraw.isPending} {...pressOnce(() => withdraw.mutate())}>
            Withdraw
          </Button>
        </>
      ) : (
        <>
          <DisabledReason reason={mayNot}>
            <Button variant="default" onClick={onDecline}>
              Decline
            </Button>
          </DisabledReason>
          <DisabledReason reason={mayNot ?? whyNot}>
            <Button onClick={onApprove}>Approve</Button>
          </DisabledReason>
        </>
      )}
    </Group>
  );
}
