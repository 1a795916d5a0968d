import { useQuery } from '@tanstack/react-query';
import { architectureNames, platformNames } from '../contract/builds.ts';
import { planText } from '../contract/next-step.ts';
import { releases, type Release } from '../contract/releases.ts';
import type { RouteAnswer } from '../contract/route.ts';
import { channelsReached, type Channel } from '../contract/versions.ts';
import { askedOnce } from './query-client.ts';
import { ConfirmDialog } from './ui/ConfirmDialog.tsx';
import { counted } from './ui/counted.ts';
import { countText } from './ui/numbers.ts';
import { queryOf } from './query-of.ts';
import { momentText } from './ui/time.ts';

type Reaching = Pick<Release, 'version' | 'channel' | 'platform' | 'architecture' | 'minimumAppVersion'> & {
  rolloutPercentage: number;
  rolloutPlan?: Release['rolloutPlan'];
  /** When the steps begin, where that is ahead. */
  startsAt?: string | null;
};
type Terms = Pick<Release, 'minimumSupportedVersion' | 'security' | 'isMandatory' | 'acceptableFailures'>;

type Reach = RouteAnswer<typeof releases.reach>;

/** How many machines would be offered a build at 100 %. */
export function reachQuery(build: Omit<Reaching, 'rolloutPercentage' | 'rolloutPlan' | 'startsAt'>) {
  const { version, channel, platform, architecture, minimumAppVersion } = build;
  const query = {
    version,
    channel,
    platform,
    architecture,
    minimumAppVersion: minimumAppVersion || undefined,
  };
  return queryOf(releases.reach, { query }, askedOnce);
}

/** Asked when a form is sent: confirms offering a build to more machines than now, and says how many they are. */
export function ReachConfirm(props: {
  title: string;
  confirmLabel: string;
  build: Reaching & Terms;
  /** Why no updater takes its file. */
  unfed: string | undefined;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { build, unfed, ...rest } = props;
  const { version, channel, platform, architecture, rolloutPercentage, startsAt } = build;
  const consequences = useQuery({
    ...reachQuery(build),
    select: ({ machines }) =>
      unfed
        ? [`${unfed} It is a manual download, offered to no machine.`]
        : [
            reachSentence(machines, rolloutPercentage, startsAt ? 'the start on' : undefined),
            ...policySentence(channel),
            ...stepsSentence(build),
            ...termSentences(build),
          ],
  });
  return (
    <ConfirmDialog
      {...rest}
      opensItself
      sendsForm
      message={
        <>
          Offer version {version} ({channel}) for {platformNames[platform]} ({architectureNames[architecture]}
          ) to {rolloutPercentage === 100 ? 'all users' : `${rolloutPercentage} % of users`}
          {startsAt ? ` from ${momentText(startsAt)}` : rolloutPercentage === 100 && ' at once'}?
        </>
      }
      consequences={consequences}
    />
  );
}

/** The others are counted by the channel that they ask for; those of stable are all of them. */
export const policySentence = (channel: Channel) =>
  channel === 'stable'
    ? []
    : [`Machines that an update policy puts on ${channelsReached(channel).join(' or ')} come on top.`];

/** How a rollout goes on after that percentage, if it does. */
export const stepsSentence = ({
  rolloutPercentage,
  rolloutPlan: steps,
}: Pick<Reaching, 'rolloutPercentage' | 'rolloutPlan'>) =>
  steps && (steps.at(-1)?.percentage ?? 0) > rolloutPercentage
    ? [`It goes on by itself, in steps: ${planText(steps)}.`]
    : [];

/** Another person may have set them while this one edited. */
const termSentences = ({ security, isMandatory, minimumSupportedVersion, acceptableFailures }: Terms) => [
  ...(security ? ['It is a security update, which update policies do not hold back.'] : []),
  ...(minimumSupportedVersion
    ? [`Machines below ${minimumSupportedVersion} get it like a security update.`]
    : []),
  ...(isMandatory ? ['It is mandatory: users must update to continue using the app.'] : []),
  ...(acceptableFailures !== null
    ? [`It is paused when clearly more than ${acceptableFailures} % of its installs fail.`]
    : []),
];

/** Of the machines that could take a build, how many are offered it at that percentage; `from`: since when. */
export function reachSentence(machines: number, percentage: number, from = 'the next check'): string {
  const where = 'of this platform, architecture and channel';
  if (machines === 0) return `No machine ${where} that is known so far runs an older version.`;
  if (percentage === 100)
    return `${counted(machines, 'machine')} ${where} will be offered it, from ${from}, unless an update policy holds it back.`;
  const share = Math.round((machines * percentage) / 100);
  return `About ${countText(share)} of ${counted(machines, 'machine')} ${where} will be offered it, from ${from}, unless an update policy holds it back.`;
}

/** How many more of them are offered it when the percentage rises: those that run it by now were offered it before. */
export function widenSentence({ machines, running }: Reach, from: number, to: number): string {
  if (machines === 0) return reachSentence(machines, to);
  const more = Math.min(machines, Math.round(((machines + running) * (to - from)) / 100));
  return `About ${countText(more)} more of ${counted(machines, 'machine')} of this platform, architecture and channel will be offered it, from the next check, unless an update policy holds it back.`;
}
