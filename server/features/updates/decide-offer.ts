import type { OfferReason } from '../../../contract/machines.ts';
import { reaches, type Channel, compareVersions } from '../../../contract/versions.ts';
import { isInsidePin } from '../../../contract/policies.ts';
import { isInRollout } from '../../../contract/rollout-bucket.ts';
import { byNewest, isSameLine, lacksSha1, type Line } from '../releases/index.ts';
import { rolloutBucket } from './bucket.ts';
import { policySteps, type Policed, type PolicedRelease, type PolicyStep } from './policy.ts';

/** The fields of a release that the decision uses; `deletedAt` only where releases in the recycle bin are included. */
export type Candidate = {
  id: string;
  version: string;
  channel: Channel;
  isDraft: boolean;
  isActive: boolean;
  rolloutPercentage: number;
  /** When the plan of its rollout starts. */
  startsAt: string | null;
  rolloutSalt: string;
  minimumAppVersion: string | null;
  pausedAt: string | null;
  damagedAt: string | null;
  pauseReason: string | null;
  deletedAt?: string | null;
  /** Published, or a draft again. */
  wasPublished: boolean;
  /** Null for a file on another server. */
  sha1?: string | null;
} & Line &
  PolicedRelease;

/** The updater and machine of a request. With an unknown version, every release counts as newer. */
export type Question = Line & {
  channel: Channel;
  currentVersion: string | undefined;
  /** SHA-256 of the machine's id in hex; without it the machine is in no rollout below 100 %. */
  machineHash: string | undefined;
  /** Of the machine's customer; without it nothing but the releases decides. */
  policed?: Policed | undefined;
};

/** The result for one release, and what the policy of the machine looked at. */
export type Verdict<R> = { release: R; reason: OfferReason; steps: PolicyStep[] };

/**
 * `release` is the offer, if any; `reason` is the result for the newest release on the machine's own channel that is no
 * draft, or CHANNEL where all are on others. Machines learn of no draft: whoever has a program has its API key.
 */
type Decision<R> = { release: R | undefined; reason: OfferReason | undefined };

/**
 * Decides the offer to a machine, for every feed: the newest release that it may run and whose rollout includes it. A
 * machine outside the rollout of the newest one gets the newest fully rolled out release, never an older version than
 * its own.
 */
export function decideOffer<R extends Candidate>(releases: readonly R[], question: Question): Decision<R> {
  const candidates = candidatesOf(releases, question);
  let reason: OfferReason | undefined;
  for (const verdict of evaluate(candidates, question)) {
    if (!verdict.release.isDraft && isOnChannel(verdict.release, question)) reason ??= verdict.reason;
    if (verdict.reason === 'OFFERED') return { release: verdict.release, reason };
    // sorted newest first: all others are older
    if (verdict.reason === 'NOT_NEWER') break;
  }
  const isElsewhere = candidates.some(({ isDraft }) => !isDraft);
  return { release: undefined, reason: reason ?? (isElsewhere ? 'CHANNEL' : undefined) };
}

/** The channel of the machine: that of its policy, else the one that it asks for. */
export const channelOf = ({ channel, policed }: Pick<Question, 'channel' | 'policed'>): Channel =>
  policed?.policy.channel?.value ?? channel;

export const isOnChannel = (
  release: Pick<Candidate, 'channel'>,
  question: Pick<Question, 'channel' | 'policed'>,
) => reaches(release.channel, channelOf(question));

/**
 * Whether the pin of the machine counts. One that matches no published release would keep the machine from every update,
 * so it does not; a machine that runs a version inside the pin stays there. A release that is withdrawn, paused, a draft
 * again, on another channel or in the recycle bin matches: taking it back must not send pinned machines to other versions.
 */
export function pinCounts(candidates: readonly Candidate[], question: Question): boolean {
  const pin = question.policed?.policy.pin?.value;
  if (pin === undefined) return false;
  if (question.currentVersion !== undefined && isInsidePin(question.currentVersion, pin)) return true;
  const trashed = (question.policed?.trashed ?? []).filter((r) => isSameLine(r, question));
  return [...candidates, ...trashed].some((r) => r.wasPublished && isInsidePin(r.version, pin));
}

/** Whether the policy of a machine keeps a release from it that all machines of its channel are offered. */
export function isHeldBack<R extends Candidate>(
  releases: readonly R[],
  release: R,
  machine: Pick<Question, 'channel' | 'currentVersion'> & { policed: Policed },
): boolean {
  const { platform, architecture, fileKind } = release;
  const question = { ...machine, platform, architecture, fileKind, machineHash: undefined };
  const pinMatches = pinCounts(candidatesOf(releases, release), question);
  const { currentVersion, policed } = machine;
  const steps = policySteps(release, policed, { currentVersion, pinMatches });
  return steps.some(({ result }) => result === 'holds');
}

/** The verdicts on all candidates of one updater, newest first; unlike `decideOffer`, it does not stop at the offer. */
export function* evaluate<R extends Candidate>(
  candidates: readonly R[],
  question: Question,
): Generator<Verdict<R>> {
  let offered = false;
  let onlyFull = false;
  const pinMatches = pinCounts(candidates, question);
  for (const release of candidates) {
    const ineligible = ineligibility(release, question);
    const { policed, currentVersion } = question;
    const steps = ineligible || !policed ? [] : policySteps(release, policed, { currentVersion, pinMatches });
    const held = steps.find(({ result }) => result === 'holds');
    let reason: OfferReason;
    if (ineligible) reason = ineligible;
    else if (held) reason = held.reason;
    else if (offered) reason = 'NEWER_RELEASE_OFFERED';
    // nobody has it, so there are no machines outside of its rollout
    else if (release.rolloutPercentage === 0) reason = 'NOT_STARTED';
    else if (!isInRollout(bucketOf(release, question), release.rolloutPercentage)) reason = 'ROLLOUT_BUCKET';
    else if (onlyFull && release.rolloutPercentage < 100) reason = 'FULL_RELEASE_OFFERED_INSTEAD';
    else reason = 'OFFERED';
    offered ||= reason === 'OFFERED';
    onlyFull ||= reason === 'ROLLOUT_BUCKET';
    yield { release, reason, steps };
  }
}

/** The bucket of the machine in the rollout of a release; null for an unknown machine. */
export const bucketOf = (
  { rolloutSalt }: Pick<Candidate, 'rolloutSalt'>,
  { machineHash }: Pick<Question, 'machineHash'>,
): number | null => (machineHash === undefined ? null : rolloutBucket(rolloutSalt, machineHash));

/** Why a release is not for this machine, independently of other releases and of its rollout. */
function ineligibility(release: Candidate, question: Question): OfferReason | undefined {
  const { currentVersion } = question;
  if (release.deletedAt) return 'DELETED';
  if (release.isDraft) return 'DRAFT';
  if (!release.isActive) return 'INACTIVE';
  if (release.damagedAt) return 'DAMAGED';
  if (lacksSha1(release)) return 'NO_FEED';
  if (!isOnChannel(release, question)) return 'CHANNEL';
  if (currentVersion !== undefined) {
    if (compareVersions(release.version, currentVersion) <= 0) return 'NOT_NEWER';
    const least = release.minimumAppVersion;
    if (least !== null && compareVersions(currentVersion, least) < 0) return 'MINIMUM_VERSION';
  }
  return release.pausedAt ? 'PAUSED' : undefined;
}

const candidateSets = new WeakMap<readonly Candidate[], Map<string, readonly Candidate[]>>();

/** The releases for one updater, newest first; sorted once per release set. */
export function candidatesOf<R extends Candidate>(releases: readonly R[], line: Line): readonly R[] {
  const kept = candidateSets.get(releases) ?? new Map<string, readonly R[]>();
  candidateSets.set(releases, kept);
  const key = `${line.platform} ${line.architecture} ${line.fileKind}`;
  const candidates = (kept.get(key) ??
    newestFirst(releases.filter((r) => isSameLine(r, line)))) as readonly R[];
  kept.set(key, candidates);
  return candidates;
}

export const newestFirst = <R extends Candidate>(releases: readonly R[]): R[] => releases.toSorted(byNewest);
