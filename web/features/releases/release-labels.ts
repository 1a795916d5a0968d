import { platformNames, type Architecture, type Platform } from '../../../contract/builds.ts';
import { kindOf } from '../../../contract/fed-kinds.ts';
import type { Channel } from '../../../contract/versions.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { platformText } from '../../platform-text.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';
import { withTimes } from '../../ui/time.ts';

export const channelTones: Record<Channel, Tone> = { stable: 'neutral', beta: 'violet', alpha: 'violet' };

type Build = {
  version: string;
  channel: Channel;
  platform: Platform;
  architecture: Architecture;
  fileName: string;
};

/** The default kind of each platform, which is not mentioned. */
const usualKinds = new Set(['exe', 'zip', 'appimage']);

/** `2.4.1 (stable) for Windows (x64)`, `…, .nupkg`: identifies a release among those of its version. */
export const buildText = ({ version, channel, platform, architecture, fileName }: Build): string =>
  [`${version} (${channel}) for ${platformText(platform, architecture)}`, unusualKind(kindOf(fileName))]
    .filter(Boolean)
    .join(', ');

/** `.nupkg` when the version may also have another file for the same machines; else empty. */
export const unusualKind = (kind: string): string | undefined =>
  usualKinds.has(kind) ? undefined : `.${kind}`;

/** The builds that differ from another of their version only in the kind of file. */
export function inSeveralKinds<R extends Build>(releases: readonly R[]): ReadonlySet<R> {
  const lineOf = (r: R) => [r.version, r.channel, r.platform, r.architecture].join(' ');
  const counts = new Map<string, number>();
  for (const release of releases) counts.set(lineOf(release), (counts.get(lineOf(release)) ?? 0) + 1);
  return new Set(releases.filter((release) => (counts.get(lineOf(release)) ?? 0) > 1));
}

/** Like `platformText`, without the default architecture (spec part 2, section 2.1). */
export const shortPlatformText = (platform: Platform, architecture: Architecture): string =>
  architecture === 'x64' ? platformNames[platform] : platformText(platform, architecture);

/** The server's message; `otherwise` when it sends none (spec part 2, section 8). */
export const releaseProblem = (error: unknown, otherwise: string): string =>
  error instanceof ApiError && error.message === `Request failed with status ${error.status}`
    ? otherwise
    : withTimes(messageOf(error, otherwise));
