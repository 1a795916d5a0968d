import { Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ChannelApproval } from '../../../contract/approvals.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { Loaded } from '../../LoadError.tsx';
import { useAuth } from '../../session.tsx';
import { Card } from '../../ui/Card.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { toast } from '../../ui/toast.tsx';
import { pressOnce } from '../../ui/press-once.ts';
import { useChange } from '../../use-change.ts';
import classes from './approvals.module.css';
import { channelsQuery, setChannel } from './queries.ts';
import { aboutChannel } from '../../toast-subjects.ts';

/** Which channels require approvals. Changing it is refused, which offers to ask a second person. */
export function Channels() {
  const channels = useQuery(channelsQuery());
  return (
    <Card title="Channels">
      <Text c="dimmed" size="sm">
        Where a channel requires it, a second person approves what reaches its machines, also from a wider
        channel: publishing, widening to 100 %, lowering the minimum version, resuming after a pause by the
        service, accepting more failures, security updates. Pausing and withdrawing never wait. Changing this
        needs two people too.
      </Text>
      <Loaded query={channels} title="Failed to load channels">
        {channels.data ? (
          <ul className={classes.channels}>
            {channels.data.map((setting) => (
              <ChannelRow key={setting.channel} setting={setting} />
            ))}
          </ul>
        ) : (
          <Skeleton height={120} mt="sm" />
        )}
      </Loaded>
    </Card>
  );
}

function ChannelRow({ setting: { channel, required } }: { setting: ChannelApproval }) {
  const { can } = useAuth();
  const change = useChange({
    mutationFn: (wanted: boolean) => setChannel(channel, wanted),
    onError: (error) => {
      const isOffered = error instanceof ApiError && error.code === 'NEEDS_APPROVAL';
      if (!isOffered) void toast({ message: messageOf(error), subject: aboutChannel(channel), tone: 'red' });
    },
  });
  return (
    <li>
      <span>
        <strong>{channel}</strong> <span>{required ? 'Two people' : 'One person'}</span>
      </span>
      <DisabledReason reason={can.manageRollouts ? null : 'You may not manage rollouts'}>
        <Button
          variant="default"
          size="xs"
          loading={change.isPending}
          aria-label={`${required ? 'Stop Requiring' : 'Require'} Approval on ${channel}`}
          {...pressOnce(() => change.mutate(!required))}
        >
          {required ? 'Stop Requiring Approval' : 'Require Approval'}
        </Button>
      </DisabledReason>
    </li>
  );
}
