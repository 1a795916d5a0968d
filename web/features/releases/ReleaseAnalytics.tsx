import { useQuery } from '@tanstack/react-query';
import { messageOf } from '../../api-error.ts';
import { Scroller } from '../../ui/Scroller.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import { MachineActivity, ReleasePerformance } from './AnalyticsTables.tsx';
import { summaryOf } from './analytics-figures.ts';
import { DownloadsChart } from './DownloadsChart.tsx';
import { releaseAnalyticsQuery } from './releases.ts';
import { TrendsChart } from './TrendsChart.tsx';

/** Checks, downloads and machines of the last 30 days. Loaded when the tab is opened: charts are heavy. */
export default function ReleaseAnalytics() {
  const { data, error, isError, refetch } = useQuery(releaseAnalyticsQuery());
  if (isError && !data) {
    return (
      <ErrorState title="Error loading analytics" message={messageOf(error)} onRetry={() => void refetch()} />
    );
  }
  const summary = data && summaryOf(data);
  return (
    <Scroller label="Analytics">
      <Tiles
        label="Last 30 days"
        tiles={{
          'Active Machines (30d)': summary?.activeMachines.toLocaleString('en'),
          'Total Downloads': summary?.totalDownloads.toLocaleString('en'),
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
