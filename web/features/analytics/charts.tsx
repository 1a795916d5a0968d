import '@mantine/charts/styles.layer.css';
import { BarChart, LineChart } from '@mantine/charts';
import { Anchor, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { CustomerUse, LicenseTrends } from '../../../contract/analytics.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { ChartCard } from '../../ui/ChartCard.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { dashedBar, dashedEnd } from '../../ui/dashed.tsx';
import { isUnfinished, unfinishedNote } from '../../ui/unfinished-day.ts';
import { dayLabel } from '../../ui/time.ts';
import { codesByDay } from './series.ts';
import { countText } from '../../ui/numbers.ts';

const height = 220;
const hues = { ink: 'ink.5', teal: 'var(--ui-teal-solid)' };
const refusalHues = ['amber', 'red', 'ink', 'teal', 'orange'].map((name) =>
  name === 'ink' ? hues.ink : `var(--ui-${name}-solid)`,
);

const look = {
  h: height,
  tickLine: 'none' as const,
  xAxisProps: { minTickGap: 28 },
  strokeWidth: 1.75,
  withDots: false,
  curveType: 'monotone' as const,
};

type Series = LicenseTrends['activations'];

/** One line over days; days without data have no point. */
export function DayLine(props: {
  title: string;
  unit: string;
  series: Series | undefined;
  format?: (value: number) => string;
  /** Suffix of the labels on the value axis. */
  axisUnit?: string;
  /** Fixed limits of the value axis. */
  domain?: [number, number];
}) {
  const { can } = useAuth();
  const { title, unit, series, format = countText, axisUnit, domain } = props;
  if (!series) return <Skeleton height={height + 60} radius={8} />;
  const data = series.map(({ period, count }) => ({ day: dayLabel(period), count }));
  const isEmpty = series.every(({ count }) => count === 0);
  const today = isUnfinished(series.at(-1)?.period);
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title={title}
      columns={['Day', unit]}
      rows={isEmpty ? [] : data.map(({ day, count }) => [day, Math.round(count * 100) / 100])}
      note={today && !isEmpty && unfinishedNote}
      empty={<NoValidations />}
    >
      <LineChart
        {...look}
        {...(today && { lineProps: dashedEnd })}
        data={data}
        dataKey="day"
        series={[{ name: 'count', label: unit, color: hues.ink }]}
        valueFormatter={format}
        yAxisProps={{
          allowDecimals: domain !== undefined,
          width: 56,
          tickFormatter: (value: number) => countText(value) + (axisUnit ?? ''),
          ...(domain ? { domain } : {}),
        }}
        lineChartProps={{ margin: { top: 8, right: 12 }, title: `${title} by day` }}
      />
    </ChartCard>
  );
}

/** Reasons for refused validations, by day. */
export function RefusalsChart({ codes }: { codes: LicenseTrends['codes'] | undefined }) {
  const { can } = useAuth();
  if (!codes) return <Skeleton height={height + 60} radius={8} />;
  const { names, rows } = codesByDay(codes);
  const data = rows.map(({ period, counts }) => ({
    day: dayLabel(period),
    unfinished: isUnfinished(period),
    ...counts,
  }));
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title="Refused Validations by Reason"
      columns={['Day', ...names]}
      rows={
        names.length === 0
          ? []
          : rows.map(({ period, counts }) => [dayLabel(period), ...names.map((name) => counts[name] ?? 0)])
      }
      note={data.at(-1)?.unfinished && unfinishedNote}
      empty={<EmptyState title="No refusals">Every validation of this period was valid.</EmptyState>}
    >
      <BarChart
        h={height}
        data={data}
        dataKey="day"
        type="stacked"
        barProps={dashedBar}
        series={names.map((name, index) => ({
          name,
          label: name,
          color: refusalHues[index % refusalHues.length] ?? hues.ink,
        }))}
        withLegend
        legendProps={{ verticalAlign: 'top', height: 36 }}
        tickLine="none"
        maxBarWidth={28}
        valueFormatter={countText}
        xAxisProps={{ minTickGap: 28 }}
        yAxisProps={{ allowDecimals: false, width: 56 }}
        barChartProps={{ title: 'Refused validations by day' }}
      />
    </ChartCard>
  );
}

/** The ten customers with the most machines. */
export function TopCustomers({ customers }: { customers: CustomerUse['customers'] | undefined }) {
  const { can } = useAuth();
  if (!customers) return <Skeleton height={height + 60} radius={8} />;
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title="Top 10 Customers"
      columns={['Customer', 'Active Users', 'Active Licenses']}
      rows={customers.map((c) => [c.company, c.activeUsers, c.activeLicenses])}
      empty={<NoValidations />}
    >
      <BarChart
        h={Math.max(height, customers.length * 34 + 60)}
        data={customers}
        dataKey="company"
        orientation="vertical"
        series={[
          { name: 'activeUsers', label: 'Active Users', color: hues.ink },
          { name: 'activeLicenses', label: 'Active Licenses', color: hues.teal },
        ]}
        withLegend
        legendProps={{ verticalAlign: 'top', height: 36 }}
        tickLine="none"
        gridAxis="x"
        maxBarWidth={12}
        valueFormatter={countText}
        xAxisProps={{ allowDecimals: false }}
        yAxisProps={{ width: 190, tickFormatter: shortName }}
        barChartProps={{ barGap: 2, title: 'Machines and licenses by customer' }}
      />
    </ChartCard>
  );
}

const shortName = (name: string) => (name.length > 28 ? `${name.slice(0, 27)}…` : name);

/** Licenses that expire in each week of the next quarter. */
export function ExpiringChart({ weeks }: { weeks: CustomerUse['expiring'] | undefined }) {
  const { can } = useAuth();
  if (!weeks) return <Skeleton height={height + 60} radius={8} />;
  const data = weeks.map(({ weekStart, count }) => ({ week: dayLabel(weekStart), count }));
  const isEmpty = weeks.every(({ count }) => count === 0);
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title="Licenses Expiring by Week"
      columns={['Week of', 'Licenses']}
      rows={isEmpty ? [] : data.map(({ week, count }) => [week, count])}
      empty={<EmptyState title="Nothing expires">No license expires in the next 13 weeks.</EmptyState>}
      note={
        <Anchor
          size="xs"
          renderRoot={(props) => <Link {...props} to={paths.licenses} search={{ sort: 'validUntil' }} />}
        >
          Licenses by the day they expire
        </Anchor>
      }
    >
      <BarChart
        h={height}
        data={data}
        dataKey="week"
        series={[{ name: 'count', label: 'Licenses', color: 'var(--ui-amber-solid)' }]}
        tickLine="none"
        maxBarWidth={28}
        valueFormatter={countText}
        xAxisProps={{ minTickGap: 8 }}
        yAxisProps={{ allowDecimals: false, width: 56 }}
        barChartProps={{ title: 'Licenses expiring by week' }}
      />
    </ChartCard>
  );
}

function NoValidations() {
  return <EmptyState title="No validations yet">Figures appear here once machines validate.</EmptyState>;
}
