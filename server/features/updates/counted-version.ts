import { compareVersions, isVersion } from '../../../contract/versions.ts';

/**
 * The version that a machine runs by its last report, as far as it decides. One that is newer than every release, those in
 * the recycle bin included, counts as unknown: a forged report of `999.0.0` would block all further offers, while an old
 * one blocks those with a minimum version.
 */
export const countedVersion = (
  reported: string | null,
  releases: readonly { version: string }[],
): string | undefined =>
  reported !== null &&
  isVersion(reported) &&
  releases.some(({ version }) => compareVersions(version, reported) >= 0)
    ? reported
    : undefined;
