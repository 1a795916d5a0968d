import '@mantine/charts/styles.layer.css';
import { BarChart } from '@mantine/charts';
import { Skeleton } from '@mantine/core';
import { ChartCard } from '../../ui/ChartCard.tsx';
import { InTurn } from '../../ui/InTurn.tsx';
import { atFontSize, axisFont, countAxis } from '../../ui/day-chart.tsx';
import { Legended } from '../../ui/Legended.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { mostShown, type ReleaseStat } from './analytics-figures.ts';
import { shortPlatformText, unusualKind } from './release-labels.ts';
import { chartHeight } from './TrendsChart.tsx';

const separator = ' · ';

/** One version may have builds for several platforms, so the name includes the platform. */
const nameOf = ({ version, channel, platform, architecture, fileKind }: ReleaseStat) =>
  [
    version,
    shortPlatformText(platform, architecture),
    channel === 'stable' ? undefined : channel,
    unusualKind(fileKind),
  ]
    .filter(Boolean)
    .join(separator);

/** Downloads of the newest releases, succeeded and failed. */
export function DownloadsChart({ stats }: { stats: ReleaseStat[] | undefined }) {
  if (!stats) return <Skeleton height={chartHeight + 60} radius={8} />;
  const shown = stats.slice(0, mostShown);
  const data = shown.map((stat) => ({ ...stat, name: nameOf(stat) }));
  return (
    <ChartCard
      title="Download Statistics by Version"
      columns={['Release', 'Successful', 'Failed']}
      rows={data.map((stat) => [stat.name, stat.completedDownloads, stat.failedDownloads])}
      empty={<EmptyState title="No releases yet">Downloads appear here once there is one.</EmptyState>}
    >
      <InTurn height={chartHeight + 20}>
        <Legended height={chartHeight + 20}>
          {(legended) => (
            <BarChart
              data={data}
              dataKey="name"
              series={[
                { name: 'completedDownloads', label: 'Successful', color: 'var(--ui-teal-solid)' },
                { name: 'failedDownloads', label: 'Failed', color: 'var(--ui-red-solid)' },
              ]}
              {...legended}
              maxBarWidth={28}
              xAxisProps={{
                tick: <NameTick />,
                height: atFontSize(44),
                tickFormatter: widestLine,
                interval: 'preserveStart',
                ...axisFont,
                minTickGap: 2,
              }}
              yAxisProps={countAxis}
              barChartProps={{ barGap: 2, title: 'Bar chart by release' }}
            />
          )}
        </Legended>
      </InTurn>
    </ChartCard>
  );
}

/** The longer line of a tick, which sets its width, so that overlapping ticks are left out. */
const widestLine = (name: string) => {
  const [version = '', ...rest] = name.split(separator);
  const about = rest.join(' ');
  return about.length > version.length ? about : version;
};

/** Version, and below it the platform. */
function NameTick(props: { x?: number; y?: number; payload?: { value: string } }) {
  const { x = 0, y = 0, payload } = props;
  const [version, ...about] = (payload?.value ?? '').split(separator);
  return (
    <text x={x} y={y + 10} textAnchor="middle" fill="var(--mantine-color-dimmed)">
      <tspan x={x} fill="var(--mantine-color-text)">
        {version}
      </tspan>
      <tspan x={x} dy="1.25em">
        {about.join(' ')}
      </tspan>
    </text>
  );
}
