import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { channelsReached, type Channel } from '../../../contract/versions.ts';
import { useAuth } from '../../session.tsx';
import { channelsQuery } from './queries.ts';

/** Says before an upload that it would be refused: a new release on such a channel must be a draft. */
export function DraftOnly({ channel, isDraft }: { channel: Channel; isDraft: boolean }) {
  const { can } = useAuth();
  const { data } = useQuery({ ...channelsQuery(), enabled: can.manageRollouts && !isDraft });
  const isRequired = data?.some(
    (setting) => setting.required && channelsReached(channel).includes(setting.channel),
  );
  if (isDraft || !isRequired) return null;
  return (
    <Text size="xs" role="status" className="amber-note">
      Publishing on {channel} needs the approval of a second person. Upload a draft, then publish it: you can
      ask for the approval there.
    </Text>
  );
}
