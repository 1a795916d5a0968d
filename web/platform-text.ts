import { architectureNames, platformNames } from '../contract/builds.ts';

const nameIn = (names: Record<string, string>, value: string | null) =>
  value === null ? 'Unknown' : (names[value] ?? value);

/** `Windows (arm64)`; values that a machine never reported are Unknown. */
export const platformText = (platform: string | null, architecture: string | null): string =>
  platform === null && architecture === null
    ? 'Unknown'
    : `${nameIn(platformNames, platform)} (${nameIn(architectureNames, architecture)})`;
