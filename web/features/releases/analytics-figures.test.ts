import { expect, test } from 'vitest';
import { successRate, summaryOf, type ReleaseStat } from './analytics-figures.ts';

const stat = (version: string, totalDownloads: number, completedDownloads: number): ReleaseStat => ({
  id: version,
  version,
  channel: 'stable',
  platform: 'win32',
  architecture: 'x64',
  fileKind: 'exe',
  totalDownloads,
  completedDownloads,
  failedDownloads: totalDownloads - completedDownloads,
  uniqueDownloads: totalDownloads,
  provenDownloads: 0,
});

test('tiles sum the tab up', () => {
  const day = (date: string, uniqueMachines: number) => ({ date, totalChecks: 99, uniqueMachines });
  expect(
    summaryOf({
      provenMachines: 12,
      updateTrends: [day('2026-11-18', 7), day('2026-11-19', 31), day('2026-11-20', 12)],
      releaseStats: [stat('2.0.0', 10, 9), stat('1.9.0', 5, 5)],
      machineActivity: [],
    }),
  ).toEqual({ provenMachines: 12, activeMachines: 31, totalDownloads: 15, latestRelease: '2.0.0' });
  expect(summaryOf({ provenMachines: 0, updateTrends: [], releaseStats: [], machineActivity: [] })).toEqual({
    provenMachines: 0,
    activeMachines: 0,
    totalDownloads: 0,
    latestRelease: 'N/A',
  });
});

test.each([
  [0, 0, '0', 'red'],
  [100, 100, '100.0', 'teal'],
  [1000, 951, '95.1', 'teal'],
  [100, 95, '95.0', 'amber'],
  [10000, 9503, '95.0', 'amber'],
  [1000, 801, '80.1', 'amber'],
  [100, 80, '80.0', 'red'],
  [3, 1, '33.3', 'red'],
] as const)('of %d downloads %d complete: %s', (total, completed, rate, tone) => {
  expect(successRate(stat('1.0.0', total, completed))).toEqual({ text: rate, tone });
});
