import { useQuery } from '@tanstack/react-query';
import { channelsReached, type Channel } from '../../../contract/versions.ts';
import { useAuth } from '../../session.tsx';
import { channelsQuery } from './queries.ts';

/**
 * Why a new release must be a draft on this channel, where `isDraft` is false; null where it may be published at once, or
 * it is not known. The service refuses it only after the whole upload.
 */
export function useDraftOnly(channel: Channel, isDraft: boolean): string | null {
  const { can } = useAuth();
  const { data } = useQuery({ ...channelsQuery(), enabled: can.manageRollouts && !isDraft });
  const reached = channelsReached(channel);
  const isRequired = data?.some((setting) => setting.required && reached.includes(setting.channel));
  if (isDraft || !isRequired) return null;
  return `Publishing on ${channel} needs the approval of a second person. Upload a draft, then publish it: you can ask for the approval there.`;
}
