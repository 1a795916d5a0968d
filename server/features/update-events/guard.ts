import { architectureNames, platformNames } from '../../../contract/builds.ts';
import { measuredFailures, defaultAcceptableFailures, type GuardState } from '../../../contract/guard.ts';
import type { Release } from '../../../contract/releases.ts';

/*
 * The statistics of the rollout guard: pure functions of counts.
 *
 * Both tests are sequential likelihood-ratio tests of a share (A. Wald, Sequential Tests of Statistical Hypotheses,
 * Annals of Mathematical Statistics 16, 1945). Instead of one alternative they average the likelihood ratios of several,
 * so that a release that fails half the time is found after a few installs and one that fails slightly more often is
 * found too (H. Robbins, Statistical Methods Related to the Law of the Iterated Logarithm, 1970). Such an average is a
 * martingale while the share is acceptable, and so exceeds 1/α with a probability of at most α, however often one looks
 * (J. Ville, Étude critique de la notion de collectif, 1939). M. Lindon, C. Sanden, V. Shirikian, Rapid Regression
 * Detection in Software Deployments through Sequential Testing (arXiv:2205.14762) guard deployments in the same way.
 */

/** `hits` of `of` machines: failed installs, silent machines. */
export type Count = { hits: number; of: number };

/** The probability that a healthy release is ever paused, for either reason: less than 1 % together. */
const falseAlarms = { failures: 0.005, silence: 0.0025 };

/** Fewer failing or silent machines than this never pause a rollout. */
const fewestHits = 2;

/** Shares that are looked for in addition to the smallest one worth a pause. */
const gross = [0.15, 0.3];

/**
 * The smallest share worth a pause, given the acceptable one: twice as many, and at least 3 points more; where that is
 * close to all, halfway from the acceptable share to all.
 */
const worthAPause = (acceptable: number): number =>
  Math.min(Math.max(2 * acceptable, acceptable + 0.03), (1 + acceptable) / 2);

/**
 * How many times more likely the count is if the share is too high than if it is `acceptable`, averaged over the
 * alternatives. Depends on the counts only, not on their order; grows with `hits`.
 */
export function evidence({ hits, of }: Count, acceptable: number): number {
  const smallest = worthAPause(acceptable);
  const ratioAt = (share: number) =>
    Math.exp(hits * Math.log(share / acceptable) + (of - hits) * Math.log((1 - share) / (1 - acceptable)));
  const ratios = [smallest, ...gross.filter((share) => share >= smallest)].map(ratioAt);
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

/**
 * The largest share that a count is compatible with, with an error probability of `error`: the bound of H. Chernoff
 * (1952), which holds for every number of machines. 1 for a count of none.
 */
export function highestShare({ hits, of }: Count, error: number): number {
  if (of === 0) return 1;
  const seen = hits / of;
  let [low, high] = [seen, 1];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (of * divergence(seen, middle) > Math.log(1 / error)) high = middle;
    else low = middle;
  }
  return high;
}

/** Kullback-Leibler divergence of two shares, in nats. */
const divergence = (a: number, b: number): number => term(a, b) + term(1 - a, 1 - b);
const term = (a: number, b: number): number => (a === 0 ? 0 : a * Math.log(a / b));

type Failures = GuardState['figures']['failures'];

/** What is acceptable, as a share, and the evidence against it that pauses a rollout. */
export type Bar = { acceptable: number; limit: number };

/** A rate that was estimated uses up half of the false alarms: it may be wrong itself. */
const estimated = 2;

/** A previous release with fewer installs shows nothing. */
const fewestInstalls = 100;
/** A previous release that failed more often than `most` is no measure; staff cannot accept more either. */
const leastAcceptable = measuredFailures.least / 100;
const mostAcceptable = measuredFailures.most / 100;

/** An installed release of before, and how many of its machines ever failed to install it. */
export type Previous = { version: string; installs: number; failed: number };

/**
 * The acceptable share of failures: `given` in percent, or the highest share that the previous release is compatible
 * with. Where that is not known to be lower, it is the usual 5 %, or what the previous release showed.
 */
export function barOf(
  given: number | null,
  previous: Previous | null,
): Bar & Pick<Failures, 'acceptableFrom'> {
  const usual = defaultAcceptableFailures / 100;
  if (given !== null)
    return { acceptable: given / 100, limit: 1 / falseAlarms.failures, acceptableFrom: 'GIVEN' };
  if (!previous || previous.installs < fewestInstalls)
    return { acceptable: usual, limit: 1 / falseAlarms.failures, acceptableFrom: 'USUAL' };
  const { failed: hits, installs: of } = previous;
  const highest = highestShare({ hits, of }, falseAlarms.failures / estimated);
  const atMost = Math.min(mostAcceptable, Math.max(usual, hits / of));
  const acceptable = Math.max(leastAcceptable, Math.min(highest, atMost));
  return { acceptable, limit: estimated / falseAlarms.failures, acceptableFrom: 'PREVIOUS' };
}

/** In percent, with two decimals. */
export const percentOf = (share: number): number => Math.round(share * 10_000) / 100;

/** Whether so many are no chance: true for at most 1 of 200 healthy releases, at any time of their rollout. */
export const exceeds = (count: Count, { acceptable, limit }: Bar): boolean =>
  count.hits >= fewestHits && count.hits > count.of * acceptable && evidence(count, acceptable) >= limit;

/** What the guard counted of one release. */
export type Seen = {
  at: Date;
  release: Pick<Release, 'version' | 'platform' | 'architecture' | 'acceptableFailures'>;
  installs: Pick<Failures, 'installs' | 'failed' | 'provenOnly' | 'claimed'>;
  previous: Previous | null;
  silence: Silence | null;
};

export type Silence = NonNullable<GuardState['figures']['silence']>;

/** How many times more machines fall silent with a harmful release than without it. */
const multiples = [2, 4, 16];
/** A smaller difference between the silent shares never pauses a rollout. */
const leastDifference = 0.01;

/**
 * Whether machines that took the release fall silent more often than others that could have. Both are counted at the
 * same moment, so nights, weekends and holidays silence both alike. Of all silent machines, a harmless release has as
 * many as its share of all machines: a sequential test of that share, as in arXiv:2205.14762.
 */
export function silences({ taken, silent, others, othersSilent }: Silence): boolean {
  if (silent < fewestHits || others === 0 || silent / taken - othersSilent / others < leastDifference)
    return false;
  const expected = taken / (taken + others);
  const ratios = multiples.map((multiple) => {
    const share = (multiple * taken) / (multiple * taken + others);
    return Math.exp(
      silent * Math.log(share / expected) + othersSilent * Math.log((1 - share) / (1 - expected)),
    );
  });
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / multiples.length >= 1 / falseAlarms.silence;
}

/** Decides whether a rollout continues, in words and numbers. */
export function evaluateGuard({ at, release, installs, previous, silence }: Seen): GuardState {
  const { acceptableFrom, ...bar } = barOf(release.acceptableFailures, previous);
  const failures: Failures = {
    ...installs,
    acceptable: percentOf(bar.acceptable),
    acceptableFrom,
    previous,
  };
  const fails = (one: Failures['claimed']) => exceeds({ hits: one.failed, of: one.installs }, bar);
  let verdict: GuardState['verdict'] = 'QUIET';
  if (fails(installs)) verdict = 'FAILING';
  else if (silence && silences(silence)) verdict = 'SILENT';
  else if (fails(installs.claimed)) verdict = 'CLAIMED';
  return {
    at: at.toISOString(),
    verdict,
    sentence: [
      ...(verdict === 'SILENT' ? [] : [failuresSentence(release, failures), acceptableSentence(failures)]),
      ...(silence && silence.taken > 0 && verdict !== 'FAILING' ? [silenceSentence(release, silence)] : []),
      ...(verdict === 'CLAIMED' ? [claimedSentence(installs.claimed)] : []),
    ].join(' '),
    figures: { failures, silence },
  };
}

const nameOf = ({ version, platform, architecture }: Omit<Seen['release'], 'acceptableFailures'>): string =>
  `${version} for ${platformNames[platform]} (${architectureNames[architecture]})`;
const count = (n: number): string => n.toLocaleString('en-US');
const share = (hits: number, of: number): string => `${((hits / of) * 100).toFixed(1)} %`;

function failuresSentence(
  { version, platform, architecture }: Seen['release'],
  { installs, failed, provenOnly }: Failures,
): string {
  const build = nameOf({ version, platform, architecture });
  const machines = provenOnly ? ' on machines with a token' : '';
  if (installs === 0) return `No install of ${build} has been reported yet.`;
  return `${count(failed)} of ${count(installs)} installs of ${build}${machines} failed (${share(failed, installs)}).`;
}

function silenceSentence(release: Seen['release'], { taken, silent, others, othersSilent }: Silence): string {
  const heard = 'not been heard of for twice their usual interval';
  const rest =
    others === 0
      ? 'There are no machines without it to compare with.'
      : `Of ${count(others)} machines without it, ${count(othersSilent)} are silent (${share(othersSilent, others)}).`;
  return `${count(silent)} of ${count(taken)} machines that took ${nameOf(release)} have ${heard} (${share(silent, taken)}). ${rest}`;
}

const claimedSentence = ({ installs, failed }: Failures['claimed']): string =>
  `Of ${count(installs)} installs that other machines reported, ${count(failed)} failed (${share(failed, installs)}). These reports are not verified: they do not pause the rollout, but no further step starts automatically.`;

function acceptableSentence({ acceptable, acceptableFrom, previous }: Failures): string {
  if (acceptableFrom === 'GIVEN') return `${acceptable} % are acceptable.`;
  const until = `${acceptable} % are acceptable until a previous release shows how many fail.`;
  if (!previous) return until;
  if (previous.installs === 0)
    return `No install of ${previous.version}, the previous full release, was reported: ${acceptable} % are acceptable.`;
  const before = `Of ${previous.version}, the previous full release, ${count(previous.failed)} of ${count(previous.installs)} failed`;
  return acceptableFrom === 'USUAL'
    ? `${before}, too few installs to compare with: ${acceptable} % are acceptable.`
    : `${before} (${share(previous.failed, previous.installs)}).`;
}
