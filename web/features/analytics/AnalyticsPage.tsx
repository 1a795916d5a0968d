import { Center, Loader, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense } from 'react';
import { AsOf } from '../../ui/AsOf.tsx';
import { Page } from '../../ui/Page.tsx';
import { Scroller } from '../../ui/Scroller.tsx';
import { LoadError } from '../../LoadError.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import {
  customerUseQuery,
  healthQuery,
  analyticsProblem,
  trendsBeforeQuery,
  trendsQuery,
} from './queries.ts';
import { inWeeks, isYear, periods, totalsOf, type Period } from './series.ts';
import classes from './analytics.module.css';
import { VersionsTable } from './VersionsTable.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { countText, fixedText } from '../../ui/numbers.ts';

const route = getRouteApi('/signed-in/analytics');
const charts = () => import('./charts.tsx');
const TrendLine = lazyPart(async () => ({ default: (await charts()).TrendLine }));
const RefusalsChart = lazyPart(async () => ({ default: (await charts()).RefusalsChart }));
const TopCustomers = lazyPart(async () => ({ default: (await charts()).TopCustomers }));
const ExpiringChart = lazyPart(async () => ({ default: (await charts()).ExpiringChart }));

const hundredths = (value: number) => fixedText(value, 2);
const words: Record<Period, string> = { week: 'Week', month: 'Month', year: 'Year' };

/** License Analytics: spec part 2, section 2.7. */
export function AnalyticsPage() {
  const { period = 'week' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page
      title="License Analytics"
      actions={
        <>
          <Freshness period={period} />
          <SegmentedControl
            aria-label="Period"
            data={periods.map((value) => ({ value, label: words[value] }))}
            value={period}
            onChange={(value) => void navigate({ search: { period: value === 'week' ? undefined : value } })}
          />
        </>
      }
    >
      <Figures period={period} />
    </Page>
  );
}

function useFigures(period: Period) {
  const health = useQuery(healthQuery());
  const trends = useQuery(trendsQuery(period));
  const use = useQuery(customerUseQuery(period));
  const before = useQuery(trendsBeforeQuery(period));
  return { health, trends, use, before };
}

const Freshness = ({ period }: { period: Period }) => <AsOf queries={Object.values(useFigures(period))} />;

function Figures({ period }: { period: Period }) {
  const { health, trends, use, before } = useFigures(period);
  // of what is shown, which is that of another period until its figures come
  const byWeek = trends.data !== undefined && isYear(trends.data);
  const shown = trends.data && (byWeek ? inWeeks(trends.data) : trends.data);
  const earlier = before.isPlaceholderData === trends.isPlaceholderData ? before.data : undefined;
  const faint = earlier && (byWeek ? inWeeks(earlier) : earlier);
  const totals = trends.data && totalsOf(trends.data);
  const asked = [health, trends, use];
  const failed = asked.find((query) => query.isError && !query.data);
  if (failed) {
    const { error } = failed;
    const refetch = () => Promise.all(asked.map((query) => query.refetch()));
    return (
      <LoadError
        title="Error loading analytics"
        message={analyticsProblem(error)}
        query={{ error, refetch }}
      />
    );
  }
  if (asked.every((query) => query.isPending)) return <Loading />;
  const lines = { trends: shown, before: faint, byWeek };
  // of the period before: neither read, nor exported as those of this one
  const isOutdated = [trends, use].some((query) => query.isPlaceholderData);
  return (
    <Scroller label="Analytics">
      <div className={classes.figures} inert={isOutdated} aria-busy={isOutdated}>
        <Tiles
          label="Totals"
          tiles={{
            'Active Customers': use.data && <Now count={use.data.summary.active} />,
            'Active Licenses': health.data && <Now count={health.data.activeLicenses} />,
            'Error Rate': totals && `${hundredths(totals.errorRate)}%`,
            'Avg Response Time': totals && `${hundredths(totals.avgResponseTime)} ms`,
          }}
        />
        <Suspense fallback={<Loading />}>
          <div className={classes.grid}>
            <TrendLine title="Active Users" unit="Active Users" name="activations" {...lines} />
            <TrendLine
              title="Validation Success Rate"
              unit="Percent"
              name="successRate"
              format={(value) => `${hundredths(value)}%`}
              axisUnit="%"
              domain={[0, 100]}
              {...lines}
            />
            <TrendLine
              title="Response Time"
              unit="ms"
              name="responseTime"
              format={(value) => `${hundredths(value)} ms`}
              axisUnit=" ms"
              {...lines}
            />
            <RefusalsChart trends={shown} byWeek={byWeek} />
            <TopCustomers customers={use.data?.customers} />
            <ExpiringChart weeks={use.data?.expiring} />
          </div>
          <VersionsTable versions={use.data?.versions} />
        </Suspense>
      </div>
    </Scroller>
  );
}

/** A count of this moment: the figures beside it are those of the period. */
const Now = ({ count }: { count: number }) => (
  <>
    {countText(count)}{' '}
    <Text span size="xs" c="dimmed">
      now
    </Text>
  </>
);

function Loading() {
  return (
    <Center py={80} role="status">
      <Loader size="sm" mr="sm" />
      <Text size="sm" c="dimmed">
        Loading analytics...
      </Text>
    </Center>
  );
}
