import '@mantine/charts/styles.layer.css';
import { BarChart, LineChart } from '@mantine/charts';
import { Skeleton } from '@mantine/core';
import type { CustomerUse, LicenseTrends } from '../../../contract/analytics.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import { paths } from '../../paths.ts';
import { resultText } from '../../refusal-reasons.ts';
import { useAuth } from '../../session.tsx';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { ChartCard } from '../../ui/ChartCard.tsx';
import { InTurn } from '../../ui/InTurn.tsx';
import { ScreenLink } from '../../ui/ScreenLink.tsx';
import { Legended } from '../../ui/Legended.tsx';
import { EmptyState } from '../../ui/states.tsx';
import {
  atFontSize,
  axisFont,
  countAxis,
  dashedBar,
  dashedEnd,
  dayAxis,
  loneDot,
} from '../../ui/day-chart.tsx';
import { isUnfinished, unfinishedNote, unfinishedWeekNote } from '../../ui/unfinished-day.ts';
import { dayLabel } from '../../ui/time.ts';
import { besides, codesByDay } from './series.ts';
import { countText } from '../../ui/numbers.ts';

const height = 220;
const hues = { ink: 'ink.5', teal: 'var(--ui-teal-solid)' };

/** By reason and not by rank: in another period another one may be the most frequent. */
const refusalHues: Record<ValidationCode, string> = {
  VALID: hues.teal,
  REVOKED: 'var(--ui-red-solid)',
  EXPIRED: 'var(--ui-amber-solid)',
  TOO_MANY_ACTIVATIONS: hues.ink,
  MACHINE_DEACTIVATED: 'var(--ui-orange-solid)',
  NOT_FOUND: hues.teal,
  CUSTOMER_INACTIVE: 'var(--ui-violet-text)',
  NOT_YET_VALID: 'var(--ui-accent-text)',
  MALFORMED_KEY: 'var(--ui-field-line)',
};

const look = {
  h: height,
  tickLine: 'none' as const,
  xAxisProps: dayAxis,
  strokeWidth: 1.75,
  withDots: false,
  curveType: 'monotone' as const,
};

type Trends = LicenseTrends;

/** Whether the last point is not over yet, what the points are, and the words for both. */
function stepsOf(byWeek: boolean, last: string | undefined) {
  const name = byWeek ? 'Week of' : 'Day';
  const isOpen = isUnfinished(last, byWeek ? 7 : 1);
  return { name, isOpen, openNote: byWeek ? unfinishedWeekNote : unfinishedNote };
}

/** One line over the days or weeks of the period, with the period before as a faint one; it breaks where data are absent. */
export function TrendLine(props: {
  title: string;
  unit: string;
  trends: Trends | undefined;
  /** The period before this one. */
  before: Trends | undefined;
  name: 'activations' | 'successRate' | 'responseTime';
  byWeek: boolean;
  format?: (value: number) => string;
  /** Suffix of the labels on the value axis. */
  axisUnit?: string;
  /** Fixed limits of the value axis. */
  domain?: [number, number];
}) {
  const { can } = useAuth();
  const { title, unit, trends, before, name, byWeek, format = countText, axisUnit, domain } = props;
  if (!trends) return <Skeleton height={height + 60} radius={8} />;
  const series = trends[name];
  const earlier = besides(trends, before, name);
  const found = new Map(series.map(({ period, count }) => [period, count]));
  const data = trends.activations.map(({ period }) => ({
    period,
    day: dayLabel(period),
    count: found.get(period) ?? null,
    before: earlier.get(period) ?? null,
  }));
  // none of many validations may be valid: the line lies at zero then
  const isEmpty = trends.codes.length === 0 && series.every(({ count }) => count === 0);
  const hasBefore = data.some((one) => one.before);
  const steps = stepsOf(byWeek, data.at(-1)?.period);
  // no line leads to a point without a neighbor
  const isDashed = steps.isOpen && data.length > 1 && data.slice(-2).every(({ count }) => count !== null);
  const rounded = (count: number | null) => (count === null ? null : Math.round(count * 100) / 100);
  const notes = [
    byWeek && name === 'activations' && 'The busiest day of each week.',
    hasBefore && 'Faint: the period before.',
    isDashed && steps.openNote,
  ];
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title={title}
      columns={[steps.name, unit, ...(hasBefore ? ['Period Before'] : [])]}
      rows={
        isEmpty
          ? []
          : data.map((one) => [one.period, rounded(one.count), ...(hasBefore ? [rounded(one.before)] : [])])
      }
      names={data.map(({ day }) => day)}
      note={!isEmpty && notes.filter(Boolean).join(' ')}
      empty={<NoValidations />}
    >
      <InTurn height={height}>
        <LineChart
          {...look}
          connectNulls={false}
          lineProps={({ name: line }: { name: string }) => ({
            dot: loneDot,
            ...(line === 'before' ? faint : isDashed && dashedEnd),
          })}
          data={data}
          dataKey="day"
          series={[
            ...(hasBefore
              ? [{ name: 'before', label: 'Period before', color: 'var(--mantine-color-dimmed)' }]
              : []),
            { name: 'count', label: unit, color: hues.ink },
          ]}
          valueFormatter={format}
          yAxisProps={{
            ...countAxis,
            allowDecimals: domain !== undefined,
            tickFormatter: (value: number) => countText(value) + (axisUnit ?? ''),
            ...(domain ? { domain } : {}),
          }}
          lineChartProps={{ margin: { top: 8, right: 12 }, title: `${title} by ${byWeek ? 'week' : 'day'}` }}
        />
      </InTurn>
    </ChartCard>
  );
}

const faint = { strokeOpacity: 0.45, strokeWidth: 1.25 };

/** Reasons for refused validations, by day or week. */
export function RefusalsChart({ trends, byWeek }: { trends: Trends | undefined; byWeek: boolean }) {
  const { can } = useAuth();
  if (!trends) return <Skeleton height={height + 60} radius={8} />;
  const { names, rows } = codesByDay(trends);
  const steps = stepsOf(byWeek, rows.at(-1)?.period);
  const isDashed = steps.isOpen && names.some((name) => rows.at(-1)?.counts[name]);
  const data = rows.map(({ period, counts }, index) => ({
    day: dayLabel(period),
    unfinished: steps.isOpen && index === rows.length - 1,
    ...counts,
  }));
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title="Refused Validations by Reason"
      columns={[steps.name, ...names.map(resultText)]}
      rows={
        names.length === 0
          ? []
          : rows.map(({ period, counts }) => [period, ...names.map((name) => counts[name] ?? 0)])
      }
      names={data.map(({ day }) => day)}
      note={isDashed && steps.openNote}
      empty={
        trends.codes.length === 0 ? (
          <NoValidations />
        ) : (
          <EmptyState title="No refusals">Every validation of this period was valid.</EmptyState>
        )
      }
    >
      <InTurn height={height}>
        <Legended height={height}>
          {(legended) => (
            <BarChart
              data={data}
              dataKey="day"
              type="stacked"
              barProps={dashedBar}
              series={names.map((name) => ({
                name,
                label: resultText(name),
                color: refusalHues[name],
              }))}
              {...legended}
              maxBarWidth={28}
              xAxisProps={dayAxis}
              yAxisProps={countAxis}
              barChartProps={{ title: `Refused validations by ${byWeek ? 'week' : 'day'}` }}
            />
          )}
        </Legended>
      </InTurn>
    </ChartCard>
  );
}

/** The ten customers with the most machines. */
export function TopCustomers({ customers }: { customers: CustomerUse['customers'] | undefined }) {
  const { can } = useAuth();
  if (!customers) return <Skeleton height={height + 60} radius={8} />;
  const tall = Math.max(height, customers.length * 34 + 60);
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title="Top 10 Customers"
      columns={['Customer', 'Active Users', 'Active Licenses']}
      rows={customers.map((c) => [c.company, c.activeUsers, c.activeLicenses])}
      names={customers.map((c) => (
        <RecordLink key={c.customerId} kind="customer" id={c.customerId}>
          {c.company}
        </RecordLink>
      ))}
      empty={<EmptyState title="No machines in use">No customer had one in this period.</EmptyState>}
    >
      <InTurn height={tall}>
        <Legended height={tall}>
          {(legended) => (
            <BarChart
              data={customers}
              dataKey="company"
              orientation="vertical"
              series={[
                { name: 'activeUsers', label: 'Active Users', color: hues.ink },
                { name: 'activeLicenses', label: 'Active Licenses', color: hues.teal },
              ]}
              {...legended}
              gridAxis="x"
              maxBarWidth={12}
              xAxisProps={{ allowDecimals: false, ...axisFont }}
              yAxisProps={{ width: atFontSize(190), interval: 0, tickFormatter: shortName }}
              barChartProps={{ barGap: 2, title: 'Machines and licenses by customer' }}
            />
          )}
        </Legended>
      </InTurn>
    </ChartCard>
  );
}

const shortName = (name: string) => (name.length > 28 ? `${name.slice(0, 27)}…` : name);

/** Licenses that expire in this week and each of the next quarter. */
export function ExpiringChart({ weeks }: { weeks: CustomerUse['expiring'] | undefined }) {
  const { can } = useAuth();
  if (!weeks) return <Skeleton height={height + 60} radius={8} />;
  const data = weeks.map(({ weekStart, count }) => ({ weekStart, week: dayLabel(weekStart), count }));
  const isEmpty = weeks.every(({ count }) => count === 0);
  return (
    <ChartCard
      exportable={can.exportAnalytics}
      title="Licenses Expiring by Week"
      columns={['Week of', 'Licenses']}
      rows={isEmpty ? [] : data.map(({ weekStart, count }) => [weekStart, count])}
      names={data.map(({ week }) => week)}
      empty={<EmptyState title="Nothing expires">No license expires in the next 13 weeks.</EmptyState>}
      note={
        <ScreenLink size="xs" to={paths.licenses} search={{ sort: 'validUntil' }}>
          Licenses by the day they expire
        </ScreenLink>
      }
    >
      <InTurn height={height}>
        <BarChart
          h={height}
          data={data}
          dataKey="week"
          series={[{ name: 'count', label: 'Licenses', color: 'var(--ui-amber-solid)' }]}
          tickLine="none"
          maxBarWidth={28}
          valueFormatter={countText}
          xAxisProps={dayAxis}
          yAxisProps={countAxis}
          barChartProps={{ title: 'Licenses expiring by week' }}
        />
      </InTurn>
    </ChartCard>
  );
}

function NoValidations() {
  return <EmptyState title="No validations yet">Figures appear here once machines validate.</EmptyState>;
}
