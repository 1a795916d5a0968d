import { useQuery } from '@tanstack/react-query';
import { architectureNames, platformNames } from '../contract/builds.ts';
import { releases, type Release } from '../contract/releases.ts';
import { call } from './api.ts';
import { askedOnce } from './query-client.ts';
import { ConfirmDialog } from './ui/ConfirmDialog.tsx';
import { counted } from './ui/counted.ts';

type Reaching = Pick<Release, 'version' | 'channel' | 'platform' | 'architecture' | 'minimumAppVersion'> & {
  rolloutPercentage: number;
};

/** Confirms offering a build to more machines than now, and says how many they are. */
export function ReachConfirm(props: {
  title: string;
  confirmLabel: string;
  build: Reaching;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { build, ...rest } = props;
  const { version, channel, platform, architecture, minimumAppVersion, rolloutPercentage } = build;
  const query = {
    version,
    channel,
    platform,
    architecture,
    minimumAppVersion: minimumAppVersion || undefined,
  };
  const consequences = useQuery({
    queryKey: ['releases', 'reach', query],
    queryFn: ({ signal }) => call(releases.reach, { query }, { signal }),
    select: ({ machines }) => [reachSentence(machines, rolloutPercentage)],
    ...askedOnce,
  });
  return (
    <ConfirmDialog
      {...rest}
      message={
        <>
          Offer version {version} ({channel}) for {platformNames[platform]} ({architectureNames[architecture]}
          ) to {rolloutPercentage === 100 ? 'all users at once' : `${rolloutPercentage} % of users`}?
        </>
      }
      consequences={consequences}
    />
  );
}

/** Of the machines that could take a build, how many are offered it at that percentage. */
export function reachSentence(machines: number, percentage: number): string {
  const where = 'of this platform, architecture and channel';
  if (machines === 0) return `No machine ${where} that is known so far runs an older version.`;
  if (percentage === 100)
    return `${counted(machines, 'machine')} ${where} will be offered it, from the next check.`;
  const share = Math.round((machines * percentage) / 100);
  return `About ${share.toLocaleString('en')} of ${counted(machines, 'machine')} ${where} will be offered it, from the next check.`;
}
