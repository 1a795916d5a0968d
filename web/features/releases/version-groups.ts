import type { Release } from '../../../contract/releases.ts';
import { compareVersions } from '../../../contract/versions.ts';

/** Newest version first; releases of one version stay together, in their original order. */
export const newestFirst = <T extends Pick<Release, 'version'>>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => compareVersions(b.version, a.version) || byBuild(a.version, b.version));

/** Versions that differ only in build metadata compare as equal, but are different versions. */
const byBuild = (a: string, b: string) => (a < b ? -1 : Number(a > b));
