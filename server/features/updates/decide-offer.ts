import type { OfferReason } from '../../../contract/machines.ts';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import { channels, type Channel, compareVersions } from '../../../contract/versions.ts';
import { rolloutBucket } from './bucket.ts';

/** What the decision looks at in a release; `deletedAt` only where releases in the bin are asked about. */
export type Candidate = {
  id: string;
  version: string;
  channel: Channel;
  platform: Platform;
  architecture: Architecture;
  fileKind: string;
  isDraft: boolean;
  isActive: boolean;
  rolloutPercentage: number;
  rolloutSalt: string;
  minimumAppVersion: string | null;
  pausedAt: string | null;
  damagedAt: string | null;
  pauseReason: string | null;
  deletedAt?: string | null;
};

/** Which updater asks, for which machine. An unknown version is taken for one that every release may replace. */
export type Question = {
  platform: Platform;
  architecture: Architecture;
  fileKind: string;
  channel: Channel;
  currentVersion: string | undefined;
  /** SHA-256 of the machine's id in hex; without one the machine is in no rollout below 100 %. */
  machineHash: string | undefined;
};

/** What became of one release, and the machine's bucket in its rollout. */
export type Verdict<R> = { release: R; reason: OfferReason; bucket: number | null };

/**
 * `release` is what the machine is offered, if anything; `reason` is what became of the newest one on its own channel,
 * or CHANNEL where all are on others.
 */
export type Decision<R> = { release: R | undefined; reason: OfferReason | undefined };

/**
 * Decides what a machine is offered, for every feed: the newest release that it may take and
 * whose rollout it is in. A machine outside of the newest one's rollout gets the newest release that is fully out,
 * never something older than what it runs.
 */
export function decideOffer<R extends Candidate>(releases: readonly R[], question: Question): Decision<R> {
  const candidates = candidatesOf(releases, question);
  let reason: OfferReason | undefined;
  for (const verdict of evaluate(candidates, question)) {
    if (isOnChannel(verdict.release, question)) reason ??= verdict.reason;
    if (verdict.reason === 'OFFERED') return { release: verdict.release, reason };
    // newest first: whatever follows is older still
    if (verdict.reason === 'NOT_NEWER') break;
  }
  return { release: undefined, reason: reason ?? (candidates.length > 0 ? 'CHANNEL' : undefined) };
}

/** stable ⊂ beta ⊂ alpha */
export const isOnChannel = (release: Pick<Candidate, 'channel'>, { channel }: Pick<Question, 'channel'>) =>
  channels.indexOf(release.channel) <= channels.indexOf(channel);

/** The verdict on each release among the candidates of one updater, newest first; what `decideOffer` does, to the end. */
export function* evaluate<R extends Candidate>(
  candidates: readonly R[],
  question: Question,
): Generator<Verdict<R>> {
  let offered = false;
  let onlyFull = false;
  for (const release of candidates) {
    const bucket =
      question.machineHash === undefined ? null : rolloutBucket(release.rolloutSalt, question.machineHash);
    const inside =
      release.rolloutPercentage >= 100 || (bucket !== null && bucket < release.rolloutPercentage);
    const ineligible = ineligibility(release, question);
    let reason: OfferReason;
    if (ineligible) reason = ineligible;
    else if (offered) reason = 'NEWER_RELEASE_OFFERED';
    else if (!inside) reason = 'ROLLOUT_BUCKET';
    else if (onlyFull && release.rolloutPercentage < 100) reason = 'FULL_RELEASE_OFFERED_INSTEAD';
    else reason = 'OFFERED';
    offered ||= reason === 'OFFERED';
    onlyFull ||= reason === 'ROLLOUT_BUCKET';
    yield { release, reason, bucket };
  }
}

/** Why a release is not for this machine at all, whatever else there is and however far it has rolled out. */
function ineligibility(release: Candidate, question: Question): OfferReason | undefined {
  const { currentVersion } = question;
  if (release.deletedAt) return 'DELETED';
  if (release.isDraft) return 'DRAFT';
  if (!release.isActive) return 'INACTIVE';
  if (release.damagedAt) return 'DAMAGED';
  if (!isOnChannel(release, question)) return 'CHANNEL';
  if (currentVersion !== undefined) {
    if (compareVersions(release.version, currentVersion) <= 0) return 'NOT_NEWER';
    const least = release.minimumAppVersion;
    if (least !== null && compareVersions(currentVersion, least) < 0) return 'MINIMUM_VERSION';
  }
  return release.pausedAt ? 'PAUSED' : undefined;
}

const candidateSets = new WeakMap<readonly Candidate[], Map<string, readonly Candidate[]>>();

/** The releases that one updater chooses from, newest first; sorted once for a release set. */
function candidatesOf<R extends Candidate>(
  releases: readonly R[],
  { platform, architecture, fileKind }: Pick<Question, 'platform' | 'architecture' | 'fileKind'>,
): readonly R[] {
  const kept = candidateSets.get(releases) ?? new Map<string, readonly R[]>();
  candidateSets.set(releases, kept);
  const key = `${platform} ${architecture} ${fileKind}`;
  const candidates = (kept.get(key) ??
    newestFirst(
      releases.filter(
        (r) => r.platform === platform && r.architecture === architecture && r.fileKind === fileKind,
      ),
    )) as readonly R[];
  kept.set(key, candidates);
  return candidates;
}

/**
 * By version; the same version in several channels: the widest channel first; builds of one version on one channel
 * (1.2.0+1, 1.2.0+2): the one made last, for it mends the other. Ids sort by when they were made.
 */
export function newestFirst<R extends Candidate>(releases: readonly R[]): R[] {
  return releases.toSorted(
    (a, b) =>
      compareVersions(b.version, a.version) ||
      channels.indexOf(a.channel) - channels.indexOf(b.channel) ||
      (a.id > b.id ? -1 : 1),
  );
}
