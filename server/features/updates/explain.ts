import type { Explanation, OfferReason } from '../../../contract/machines.ts';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import { fedKinds, unfedReason } from '../../../contract/fed-kinds.ts';
import { type Channel, compareVersions } from '../../../contract/versions.ts';
import {
  bucketOf,
  channelOf,
  evaluate,
  newestFirst,
  type Candidate,
  type Question,
  type Verdict,
} from './decide-offer.ts';
import { channelSentence, momentText, policySentence } from './explain-policy.ts';
import type { Policed } from './policy.ts';
import { present } from '../../invariants.ts';

/** The last known state of a machine; unknown is null. */
export type KnownMachine = {
  machineHash: string;
  platform: Platform | null;
  architecture: Architecture | null;
  channel: Channel | null;
  currentVersion: string | null;
  policed?: Policed | undefined;
};

/**
 * For each release, newest first: whether this machine is offered it, and why, in a sentence with its numbers. Uses the
 * decision of the feeds for each kind of file, since the machine's updater is unknown here.
 */
export function explainEach(releases: readonly Candidate[], machine: KnownMachine): Explanation[] {
  const verdicts = new Map<string, Explanation>();
  const kinds = new Set(releases.map((r) => r.fileKind));
  for (const fileKind of kinds) {
    const ofKind = newestFirst(releases.filter((r) => r.fileKind === fileKind));
    for (const explanation of explainKind(ofKind, fileKind, machine)) {
      verdicts.set(explanation.releaseId, explanation);
    }
  }
  return newestFirst(releases).flatMap((r) => verdicts.get(r.id) ?? []);
}

/** A verdict, and the bucket of the machine in the rollout of the release. */
type InRollout = Verdict<Candidate> & { bucket: number | null };

function explainKind(releases: Candidate[], fileKind: string, machine: KnownMachine): Explanation[] {
  const { platform, architecture, channel, currentVersion, machineHash, policed } = machine;
  const isMine = (r: Candidate) =>
    r.platform === platform && r.architecture === architecture && fedKinds[r.platform].includes(fileKind);
  const question = {
    fileKind,
    channel: channel ?? 'stable',
    currentVersion: currentVersion ?? undefined,
    machineHash,
    policed,
  };
  const evaluated =
    platform && architecture
      ? [...evaluate(releases.filter(isMine), { ...question, platform, architecture })].map((verdict) => ({
          ...verdict,
          bucket: bucketOf(verdict.release, question),
        }))
      : [];
  const offered = evaluated.find((verdict) => verdict.reason === 'OFFERED')?.release;
  const others = releases
    .filter((r) => !isMine(r))
    .map((release): InRollout => ({
      release,
      reason: reasonElsewhere(release, machine),
      bucket: null,
      steps: [],
    }));
  return [...evaluated, ...others].map((verdict) => ({
    releaseId: verdict.release.id,
    version: verdict.release.version,
    channel: verdict.release.channel,
    fileKind,
    offered: verdict.reason === 'OFFERED',
    reason: verdict.reason,
    detail: sentences[verdict.reason](verdict, { question, machine, offered }),
    policy: policySentences(verdict, policed),
    bucket: verdict.bucket,
    rolloutPercentage: verdict.release.rolloutPercentage,
  }));
}

/** What the policy of the machine looked at, in that order. */
function policySentences({ release, reason, steps }: Verdict<Candidate>, policed: Policed | undefined) {
  if (!policed || reason === 'OTHER_PLATFORM' || reason === 'NO_FEED') return [];
  return [...channelSentence(policed), ...steps.map((step) => policySentence(step, release, policed))];
}

/** A reason of the policy: the step that holds the release back. */
const heldBack = ({ release, steps }: InRollout, { question }: Explained): string =>
  policySentence(
    present(steps.at(-1), 'the last step gives the reason'),
    release,
    present(question.policed, 'only a policy has steps'),
  );

const reasonElsewhere = (release: Candidate, { platform, architecture }: KnownMachine): OfferReason =>
  release.platform === platform && release.architecture === architecture ? 'NO_FEED' : 'OTHER_PLATFORM';

type Asked = Pick<Question, 'channel' | 'currentVersion' | 'policed'>;
type Explained = { question: Asked; machine: KnownMachine; offered: Candidate | undefined };

const runs = ({ currentVersion }: Asked) =>
  currentVersion === undefined
    ? 'whose version is not known or does not count'
    : `which runs ${currentVersion}`;

const percent = (bucket: number | null) => (bucket ?? 0).toFixed(2);

const sentences: Record<OfferReason, (verdict: InRollout, explained: Explained) => string> = {
  OFFERED: ({ release, bucket }, { question }) =>
    release.rolloutPercentage >= 100
      ? `It is the newest release for this machine, ${runs(question)}, and it is fully out.`
      : `It is the newest release for this machine, ${runs(question)}, and the machine's bucket ${percent(bucket)} is below its rollout of ${release.rolloutPercentage} %.`,
  FULL_RELEASE_OFFERED_INSTEAD: ({ release, bucket }, { offered }) =>
    `The machine's bucket ${percent(bucket)} is below ${release.rolloutPercentage} %, but a newer release is rolling out without it, and machines outside of a rollout get only what is fully out: ${offered ? offered.version : 'there is no such release that is newer than what it runs'}.`,
  OTHER_PLATFORM: ({ release }, { machine }) =>
    machine.platform && machine.architecture
      ? `It is for ${release.platform} ${release.architecture}; the machine is ${machine.platform} ${machine.architecture}.`
      : `It is for ${release.platform} ${release.architecture}; the machine has not said what it is.`,
  NO_FEED: ({ release: { platform, fileKind, sha1 } }) =>
    present(unfedReason(platform, fileKind, sha1 !== null), 'the reason says that no updater takes it'),
  CHANNEL: ({ release }, { question }) =>
    `It is on the channel ${release.channel}; the machine is on ${channelOf(question)}.`,
  DRAFT: () => 'It is a draft: no feed offers it before it is published.',
  INACTIVE: () => 'It is inactive: no feed offers it.',
  DAMAGED: () => 'Its stored file is damaged or missing: no feed offers it.',
  DELETED: () => 'It is in the recycle bin: no feed offers it.',
  PAUSED: ({ release }) =>
    `Its rollout is paused${release.pauseReason ? `: ${release.pauseReason.replace(/\.$/, '')}` : ''}. No machine is offered it until it is resumed.`,
  NOT_STARTED: ({ release }) =>
    release.startsAt === null
      ? 'Its rollout is at 0 %: no machine is offered it, and it does not affect other releases.'
      : `Its rollout has not started; its start is set to ${momentText(new Date(release.startsAt))}. Until it begins, no machine is offered it.`,
  ROLLOUT_BUCKET: ({ release, bucket }) =>
    `The machine's bucket ${percent(bucket)} is not below its rollout of ${release.rolloutPercentage} %.`,
  MINIMUM_VERSION: ({ release }, { question }) =>
    `It needs at least ${release.minimumAppVersion}; the machine runs ${question.currentVersion}.`,
  LICENSE_INACTIVE: heldBack,
  PINNED: heldBack,
  UPDATES_ENDED: heldBack,
  DEFERRED: heldBack,
  OUTSIDE_WINDOW: heldBack,
  NOT_NEWER: ({ release }, { question }) =>
    question.currentVersion !== undefined && compareVersions(release.version, question.currentVersion) === 0
      ? `The machine runs ${question.currentVersion} already.`
      : `The machine runs ${question.currentVersion}, which is newer.`,
  NEWER_RELEASE_OFFERED: (_, explained) => {
    const offered = present(explained.offered, 'the reason says that there is one');
    return `The machine is offered ${offered.version} (${offered.channel}) instead.`;
  },
};
