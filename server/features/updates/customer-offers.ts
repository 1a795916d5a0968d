import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { CustomerReleases } from '../../../contract/customer-page.ts';
import { fedKinds } from '../../../contract/fed-kinds.ts';
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

function offersOn(
  platform: Platform,
  architecture: Architecture,
  releases: readonly Candidate[],
  policed: Policed,
): CustomerReleases {
  const question = { platform, architecture, channel: 'stable' as const, policed };
  const asked = { currentVersion: undefined, machineHash: undefined };
  const offered = new Map<string, Candidate>();
  const held = new Map<string, { release: Candidate; why: string }>();
  for (const fileKind of fedKinds[platform]) {
    const candidates = candidatesOf(releases, { platform, architecture, fileKind });
    // as in `evaluate`: outside of a rollout, machines get only what is fully out; below its minimum they are in none
    let onlyFull = false;
    for (const { release, reason, steps } of evaluate(candidates, { ...question, ...asked, fileKind })) {
      const isRollingOut: boolean = reason === 'ROLLOUT_BUCKET' && !onlyFull;
      if (reason === 'OFFERED' || isRollingOut) offered.set(release.version, release);
      onlyFull ||= isRollingOut && release.minimumAppVersion === null;
      if (reason === 'OFFERED') break;
      const step = steps.find(({ result }) => result === 'holds');
      if (step && !held.has(step.reason))
        held.set(step.reason, { release, why: whyHeld(step, release, policed) });
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
