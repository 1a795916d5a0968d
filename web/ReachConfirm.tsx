import { useQuery } from '@tanstack/react-query';
import { architectureNames, platformNames } from '../contract/builds.ts';
import { kindOf } from '../contract/fed-kinds.ts';
import { hiddenText, planText } from '../contract/next-step.ts';
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
  /** Empty where it is not known. */
  fileName: string;
  rolloutPercentage: number;
  rolloutPlan?: Release['rolloutPlan'];
  /** When the steps begin, where that is ahead. */
  startsAt?: string | null;
};
type Terms = Pick<Release, 'minimumSupportedVersion' | 'security' | 'isMandatory' | 'acceptableFailures'>;

type Reach = RouteAnswer<typeof releases.reach>;

/** How many machines would be offered a build at 100 %. */
export function reachQuery(build: Omit<Reaching, 'rolloutPercentage' | 'rolloutPlan' | 'startsAt'>) {
  const { version, channel, platform, architecture, minimumAppVersion, fileName } = build;
  const query = {
    version,
    channel,
    platform,
    architecture,
    minimumAppVersion: minimumAppVersion || undefined,
    fileKind: fileName ? kindOf(fileName) : undefined,
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
    select: (reach) =>
      unfed
        ? [`${unfed} It is a manual download, offered to no machine.`]
        : [
            ...reachSentences(reach, rolloutPercentage, startsAt ? 'the start on' : undefined),
            ...besideSentences(reach, rolloutPercentage),
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
export const termSentences = ({
  security,
  isMandatory,
  minimumSupportedVersion,
  acceptableFailures,
}: Terms) => [
  ...(security ? ['It is a security update, which update policies do not hold back.'] : []),
  ...(minimumSupportedVersion
    ? [`Machines below ${minimumSupportedVersion} get it like a security update.`]
    : []),
  ...(isMandatory ? ['It is mandatory: users must update to continue using the app.'] : []),
  ...(acceptableFailures !== null
    ? [`It is paused when clearly more than ${acceptableFailures} % of its installs fail.`]
    : []),
];

type Counted = Pick<Reach, 'machines' | 'newer' | 'below'>;

/** Of the machines that run an older version, how many are offered a build at that percentage; `from`: since when. */
export function reachSentences(reach: Counted, percentage: number, from?: string): string[] {
  const others = otherSentences(reach);
  const isNone = reach.machines === 0 && others.length > 0;
  return isNone ? others : [reachSentence(reach.machines, percentage, from), ...others];
}

/** Of the machines that run an older version, those that are not offered the build at any percentage. */
const otherSentences = ({ newer, below }: Counted) => [
  ...newer.map(
    ({ machines, version }) =>
      `${counted(machines, 'machine')} with an older version ${areOf(machines)} offered ${version} instead, unless an update policy holds that back.`,
  ),
  ...(below > 0
    ? [
        `${counted(below, 'machine')} with an older version ${areOf(below)} below the minimum app version, and not offered it.`,
      ]
    : []),
];

const areOf = (machines: number) => (machines === 1 ? 'is' : 'are');

/** What a partial rollout does to others, and they to it. */
export function besideSentences({ hides, hiddenBy }: Pick<Reach, 'hides' | 'hiddenBy'>, percentage: number) {
  if (percentage === 100) return [];
  return [
    ...(hiddenBy ? [hiddenText(hiddenBy)] : []),
    // before it begins, it hides none
    ...(percentage === 0 ? [] : hides).map(
      (older) =>
        `${older.version}, at ${older.rolloutPercentage} %, is offered meanwhile only to machines from which an update policy or the minimum app version keeps this one, and takes no step by itself. Withdraw ${older.version} if this release replaces it.`,
    ),
  ];
}

function reachSentence(machines: number, percentage: number, from = 'the next check'): string {
  const where = 'of this platform, architecture and channel';
  if (machines === 0) return `No machine ${where} that is known so far runs an older version.`;
  if (percentage === 100)
    return `${counted(machines, 'machine')} ${where} will be offered it, from ${from}, unless an update policy holds it back.`;
  const share = Math.round((machines * percentage) / 100);
  return `About ${countText(share)} of ${counted(machines, 'machine')} ${where} will be offered it, from ${from}, unless an update policy holds it back.`;
}

/** How many more of them are offered it when the percentage rises: those that run it by now were offered it before. */
export function widenSentences(reach: Counted & Pick<Reach, 'running'>, from: number, to: number): string[] {
  const { machines, running } = reach;
  if (machines === 0) return reachSentences(reach, to);
  const more = Math.min(machines, Math.round(((machines + running) * (to - from)) / 100));
  return [
    `About ${countText(more)} more of ${counted(machines, 'machine')} of this platform, architecture and channel will be offered it, from the next check, unless an update policy holds it back.`,
    ...otherSentences(reach),
  ];
}
