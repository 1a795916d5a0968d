import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { Channel } from '../../../contract/versions.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { architectureNames, platformNames } from '../../build-names.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';

export const channelTones: Record<Channel, Tone> = { stable: 'neutral', beta: 'violet', alpha: 'violet' };

const nameIn = (names: Record<string, string>, value: string | null) =>
  value === null ? 'Unknown' : (names[value] ?? value);

/** `Windows (arm64)`; what a machine never told is Unknown. */
export const platformText = (platform: string | null, architecture: string | null): string =>
  platform === null && architecture === null
    ? 'Unknown'
    : `${nameIn(platformNames, platform)} (${nameIn(architectureNames, architecture)})`;

type Build = { version: string; channel: Channel; platform: Platform; architecture: Architecture };

/** `2.4.1 (stable) for Windows (x64)`: one release among those of its version. */
export const buildText = ({ version, channel, platform, architecture }: Build): string =>
  `${version} (${channel}) for ${platformText(platform, architecture)}`;

/** Like `platformText`, without the architecture that goes without saying (spec part 2, section 2.1). */
export const shortPlatformText = (platform: Platform, architecture: Architecture): string =>
  architecture === 'x64' ? platformNames[platform] : platformText(platform, architecture);

/** The server's own words; `otherwise` where it says nothing (spec part 2, section 8). */
export const problemOf = (error: unknown, otherwise: string): string =>
  error instanceof ApiError && error.message === `Request failed with status ${error.status}`
    ? otherwise
    : messageOf(error, otherwise);
