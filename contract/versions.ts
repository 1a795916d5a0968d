import { channels } from './list-words.ts';

export type Channel = (typeof channels)[number];

/** The order of channels, the widest first: stable ⊂ beta ⊂ alpha. */
export const byWidth = (a: Channel, b: Channel): number => channels.indexOf(a) - channels.indexOf(b);

/** Whether machines on the channel `on` receive the releases of `channel`: its own, and those of wider ones. */
export const reaches = (channel: Channel, on: Channel): boolean => byWidth(channel, on) <= 0;

/** The channels whose machines receive releases of this one; each of them may require approvals. */
export const channelsReached = (channel: Channel): Channel[] => channels.filter((on) => reaches(channel, on));

/** The official regular expression of semver 2.0.0: major.minor.patch with optional prerelease and build. */
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

type Numbers = [number, number, number];
type Parts = { numbers: Numbers; prerelease: string[] };

/** Versions are compared much more often than they change. */
const parsed = new Map<string, Parts | undefined>();
const mostParsed = 1000;

function parse(version: string): Parts | undefined {
  if (parsed.has(version)) return parsed.get(version);
  if (parsed.size >= mostParsed) parsed.clear();
  const parts = parseText(version);
  if (version.length <= 100) parsed.set(version, parts);
  return parts;
}

function parseText(version: string): Parts | undefined {
  const match = semver.exec(version);
  if (!match) return undefined;
  const numbers = [Number(match[1]), Number(match[2]), Number(match[3])] as Numbers;
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  return { numbers, prerelease: match[4]?.split('.') ?? [] };
}

/** True for a version by semver 2.0.0. */
export const isVersion = (text: string): boolean => text.length <= 100 && parse(text) !== undefined;

/** Order by semver 2.0.0: negative, zero or positive, ignoring build metadata. Throws on an invalid version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) throw new Error(`Invalid semantic version: ${left ? b : a}`);
  for (const n of [0, 1, 2] as const) {
    if (left.numbers[n] !== right.numbers[n]) return left.numbers[n] - right.numbers[n];
  }
  return comparePrerelease(left.prerelease, right.prerelease);
}

/**
 * What machines report that run a version: it, or it without build metadata, which many programs do not know, as the
 * `version` of npm's semver. Two builds of a version differ in nothing else, so then a machine counts for both.
 */
export const reportedAs = (version: string): [exact: string, plain: string] => [
  version,
  version.replace(/\+.*$/, ''),
];

function comparePrerelease(left: string[], right: string[]): number {
  // a version without prerelease ranks above all of its prereleases
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    const order = compareIdentifiers(a, b);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return a.length - b.length || (a < b ? -1 : Number(a > b));
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}

export type Bump = 'patch' | 'minor' | 'major';

/**
 * The version suggested by the upload form (spec part 2, section 4): the highest of `existing` (the versions of the
 * same platform and channel), bumped, with the channel as prerelease tag unless it is stable. One of `deleted`, which are
 * in the recycle bin, is passed over.
 */
export function nextVersion(
  existing: readonly string[],
  channel: Channel,
  bump: Bump,
  deleted: readonly string[] = [],
): string {
  const tag = channel === 'stable' ? '' : `-${channel}`;
  const highest = parse(existing.filter(isVersion).toSorted(compareVersions).at(-1) ?? '');
  const after = ([major, minor, patch]: Numbers): Numbers =>
    bump === 'patch'
      ? [major, minor, patch + 1]
      : bump === 'minor'
        ? [major, minor + 1, 0]
        : [major + 1, 0, 0];
  const first: Numbers = channel === 'stable' ? [1, 0, 0] : [0, 1, 0];
  let next = highest ? after(highest.numbers) : first;
  while (deleted.includes(next.join('.') + tag)) next = after(next);
  return next.join('.') + tag;
}
