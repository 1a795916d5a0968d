import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { LoadError } from '../../LoadError.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { OfWhichProven } from '../../ui/OfWhichProven.tsx';
import { Scroller } from '../../ui/Scroller.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import { MachineActivity, ReleasePerformance } from './AnalyticsTables.tsx';
import { summaryOf } from './analytics-figures.ts';
import { DownloadsChart } from './DownloadsChart.tsx';
import { releaseAnalyticsQuery } from './queries.ts';
import { TrendsChart } from './TrendsChart.tsx';
import { countText } from '../../ui/numbers.ts';

/** Checks and machines of the last 30 days, and all downloads. Loaded when the tab is opened: the chart code is large. */
export default function ReleaseAnalytics() {
  const figures = useQuery(releaseAnalyticsQuery());
  const { data, isError } = figures;
  if (isError && !data) return <LoadError title="Error loading analytics" query={figures} />;
  const summary = data && summaryOf(data);
  return (
    <Scroller label="Analytics">
      <Group justify="flex-end" style={{ marginBottom: -8 }}>
        <AsOf queries={[figures]} />
      </Group>
      <Tiles
        label="Summary"
        tiles={{
          'Active Machines (30d)': summary && (
            <OfWhichProven all={summary.activeMachines} proven={summary.provenMachines} of="in 30 days" />
          ),
          'Total Downloads': summary && countText(summary.totalDownloads),
          'Latest Release': summary?.latestRelease,
        }}
      />
      <TrendsChart trends={data?.updateTrends} />
      <DownloadsChart stats={data?.releaseStats} />
      <MachineActivity machines={data?.machineActivity} />
      <ReleasePerformance stats={data?.releaseStats} />
    </Scroller>
  );
}
