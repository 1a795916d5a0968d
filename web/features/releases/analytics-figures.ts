import type { ReleaseAnalytics } from '../../../contract/releases.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';
import { fixedText } from '../../ui/numbers.ts';

export type ReleaseStat = ReleaseAnalytics['releaseStats'][number];

/** Maximum of releases or machines in charts and tables (spec part 2, section 9). */
export const mostShown = 10;

/** The tiles of the tab (spec part 2, section 2.1). */
export function summaryOf({ provenMachines, updateTrends, releaseStats }: ReleaseAnalytics) {
  return {
    provenMachines,
    activeMachines: Math.max(0, ...updateTrends.map((day) => day.uniqueMachines)),
    totalDownloads: releaseStats.reduce((sum, release) => sum + release.totalDownloads, 0),
    latestRelease: releaseStats[0]?.version ?? 'N/A',
  };
}

type Downloads = Pick<ReleaseStat, 'totalDownloads' | 'completedDownloads'>;

/**
 * Share of completed downloads: a percentage with one decimal, 0 when there were no downloads. Green above 95, yellow
 * above 80, red otherwise, based on the displayed value.
 */
export function successRate({ totalDownloads, completedDownloads }: Downloads): { text: string; tone: Tone } {
  if (totalDownloads === 0) return { text: '0', tone: 'red' };
  const percent = Math.round((completedDownloads / totalDownloads) * 1000) / 10;
  return { text: fixedText(percent, 1), tone: percent > 95 ? 'teal' : percent > 80 ? 'amber' : 'red' };
}
