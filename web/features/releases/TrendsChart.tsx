import '@mantine/charts/styles.layer.css';
import { LineChart } from '@mantine/charts';
import { Skeleton } from '@mantine/core';
import type { ReleaseAnalytics } from '../../../contract/releases.ts';
import { ChartCard } from '../../ui/ChartCard.tsx';
import { InTurn } from '../../ui/InTurn.tsx';
import { Legended } from '../../ui/Legended.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { countAxis, dashedEnd, dayAxis } from '../../ui/day-chart.tsx';
import { isUnfinished, unfinishedNote } from '../../ui/unfinished-day.ts';
import { dayLabel } from '../../ui/time.ts';

export const chartHeight = 240;

/** Update checks by day, and the machines that made them. */
export function TrendsChart({ trends }: { trends: ReleaseAnalytics['updateTrends'] | undefined }) {
  if (!trends) return <Skeleton height={chartHeight + 60} radius={8} />;
  const data = trends.map((day) => ({ ...day, day: dayLabel(day.date) }));
  const today = isUnfinished(trends.at(-1)?.date);
  const isEmpty = trends.every((day) => day.totalChecks === 0);
  return (
    <ChartCard
      title="Update Check Trends (30 Days)"
      columns={['Date', 'Total Checks', 'Unique Machines']}
      rows={isEmpty ? [] : data.map((day) => [day.day, day.totalChecks, day.uniqueMachines])}
      note={today && !isEmpty && unfinishedNote}
      empty={<EmptyState title="No update checks yet">Machines appear here once they check.</EmptyState>}
    >
      <InTurn height={chartHeight}>
        <Legended height={chartHeight}>
          {(legended) => (
            <LineChart
              data={data}
              dataKey="day"
              series={[
                { name: 'totalChecks', label: 'Total Checks', color: 'ink.5' },
                { name: 'uniqueMachines', label: 'Unique Machines', color: 'var(--ui-teal-solid)' },
              ]}
              curveType="monotone"
              strokeWidth={1.75}
              withDots={false}
              {...(today && { lineProps: dashedEnd })}
              {...legended}
              xAxisProps={dayAxis}
              yAxisProps={countAxis}
              lineChartProps={{ title: 'Line chart by day' }}
            />
          )}
        </Legended>
      </InTurn>
    </ChartCard>
  );
}
