import type { Release } from '../../../contract/releases.ts';
import { compareVersions } from '../../../contract/versions.ts';

/** Newest version first; releases of one version stay together, in the order they came. */
export const newestFirst = <T extends Pick<Release, 'version'>>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => compareVersions(b.version, a.version) || byBuild(a.version, b.version));

/** Versions that differ in build metadata only have no order, but are different versions. */
const byBuild = (a: string, b: string) => (a < b ? -1 : Number(a > b));
