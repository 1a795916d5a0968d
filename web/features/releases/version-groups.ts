import type { RolloutSummary } from '../../../contract/rollouts.ts';
import type { Release } from '../../../contract/releases.ts';
import { compareVersions } from '../../../contract/versions.ts';
import { counted } from '../../ui/counted.ts';

/** Newest version first; releases of one version stay together, in their original order. */
export const newestFirst = <T extends Pick<Release, 'version'>>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => compareVersions(b.version, a.version) || byBuild(a.version, b.version));

/**
 * How many builds the heading of a version counts, as the machines beside it: those of this page, also where the page
 * before or after may have others of it. Null where there is one build.
 */
export function buildsText(
  version: string,
  shown: readonly Pick<Release, 'version'>[],
  { offset, total }: { offset: number; total: number },
): string | null {
  const builds = shown.filter((one) => one.version === version).length;
  const mayBegin = offset > 0 && shown[0]?.version === version;
  const mayGoOn = offset + shown.length < total && shown.at(-1)?.version === version;
  if (mayBegin || mayGoOn) return `${counted(builds, 'build')} on this page`;
  return builds > 1 ? `${builds} builds` : null;
}

type Machines = Pick<RolloutSummary, 'running' | 'eligible' | 'held'>;

/**
 * The machines of several builds of a version. Those of one platform and architecture, such as an installer and a package
 * of it, or one on two channels, are for the same machines, so only the most of each are counted.
 */
export function machinesOf(
  builds: readonly (Machines & Pick<Release, 'platform' | 'architecture'>)[],
): Machines {
  const sum = (name: keyof Machines) => {
    const most = new Map<string, number>();
    for (const { platform, architecture, [name]: machines } of builds) {
      const key = `${platform} ${architecture}`;
      most.set(key, Math.max(machines, most.get(key) ?? 0));
    }
    return [...most.values()].reduce((all, machines) => all + machines, 0);
  };
  return { running: sum('running'), eligible: sum('eligible'), held: sum('held') };
}

/** Versions that differ only in build metadata compare as equal, but are different versions. */
const byBuild = (a: string, b: string) => (a < b ? -1 : Number(a > b));
