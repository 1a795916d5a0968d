import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { CustomerReleases } from '../../../contract/customer-page.ts';
import { fedKinds } from '../../../contract/fed-kinds.ts';
import type { OfferReason } from '../../../contract/machines.ts';
import { compareVersions } from '../../../contract/versions.ts';
import { candidatesOf, channelOf, evaluate, newestFirst, type Candidate } from './decide-offer.ts';
import { policySentence } from './explain-policy.ts';
import { isStrict, type Policed, type PolicyStep } from './policy.ts';

/**
 * The releases that machines under a policy may get, for each platform that has releases. A machine that runs an older
 * version and is on the channel stable is assumed, unless the policy names another channel.
 */
export function offersToCustomer(releases: readonly Candidate[], policed: Policed): CustomerReleases[] {
  const builds = new Map(releases.map((r) => [`${r.platform} ${r.architecture}`, r] as const));
  return [...builds.values()].map(({ platform, architecture }) =>
    offersOn(platform, architecture, releases, policed),
  );
}

/** Why a release is or is not offered to a machine that may take it; one at 0 % may be among the older ones. */
const mayTake = new Set<OfferReason>(['OFFERED', 'ROLLOUT_BUCKET', 'NEWER_RELEASE_OFFERED']);

function offersOn(
  platform: Platform,
  architecture: Architecture,
  releases: readonly Candidate[],
  policed: Policed,
): CustomerReleases {
  const question = { platform, architecture, channel: 'stable' as const, policed };
  const asked = { currentVersion: undefined, machineHash: undefined };
  // by what is shown of it, since the kinds of file of a version may have rollouts of their own
  const offered = new Map<string, Candidate>();
  const held = new Map<string, { release: Candidate; why: string }>();
  for (const fileKind of fedKinds[platform]) {
    const candidates = candidatesOf(releases, { platform, architecture, fileKind });
    const verdicts = [...evaluate(candidates, { ...question, ...asked, fileKind })];
    // the newest machines, and those below each minimum version
    for (const below of new Set([null, ...candidates.map((one) => one.minimumAppVersion)])) {
      // as in `evaluate`: outside of a rollout, machines get only what is fully out
      let onlyFull = false;
      for (const { release, reason, steps } of verdicts) {
        const { rolloutPercentage, minimumAppVersion: least } = release;
        if (below !== null && least !== null && compareVersions(least, below) >= 0) continue;
        const isOffered: boolean = mayTake.has(reason) && rolloutPercentage > (onlyFull ? 99 : 0);
        if (isOffered) offered.set(`${release.version} ${rolloutPercentage} ${least}`, release);
        if (isOffered && rolloutPercentage === 100) break;
        onlyFull ||= isOffered;
        const step = steps.find(({ result }) => result === 'holds');
        const known = step && held.get(step.reason);
        if (step && (!known || compareVersions(release.version, known.release.version) > 0))
          held.set(step.reason, { release, why: whyHeld(step, release, policed) });
      }
    }
  }
  return {
    platform,
    architecture,
    channel: channelOf(question),
    offered: newestFirst([...offered.values()]).map((r) => ({
      id: r.id,
      version: r.version,
      channel: r.channel,
      rolloutPercentage: r.rolloutPercentage,
      minimumAppVersion: r.minimumAppVersion,
    })),
    heldBack: [...held.values()].map(({ release, why }) => ({ version: release.version, why })),
  };
}

/** Why a policy holds a release back, and from which machines it does not. */
function whyHeld(step: PolicyStep, release: Candidate, policed: Policed): string {
  const why = policySentence(step, release, policed);
  const { minimumSupportedVersion: least, minimumAppVersion, rolloutPercentage } = release;
  // with a minimum app version, the oldest machines do not get it either
  const isUrgentForAll = least !== null && minimumAppVersion === null && rolloutPercentage > 0;
  if (!isUrgentForAll || isStrict(step, policed)) return why;
  const which = rolloutPercentage === 100 ? '' : ' in its rollout';
  return `${why} Machines below ${least}${which} get it nevertheless.`;
}
