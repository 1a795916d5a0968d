import '@mantine/charts/styles.layer.css';
import { BarChart } from '@mantine/charts';
import type { RolloutProgress } from '../../../contract/rollouts.ts';
import { ChartCard } from '../../ui/ChartCard.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { dayLabel } from '../../ui/time.ts';
import { isUnfinished } from '../../ui/unfinished-day.ts';
import { countAxis, dayAxis } from '../../ui/day-chart.tsx';
import { Legended } from '../../ui/Legended.tsx';
import { everyDay } from './every-day.ts';

/** Installs by day, succeeded and failed. */
export default function Adoption({ progress: { adoption } }: { progress: RolloutProgress }) {
  const data = everyDay(adoption).map((day) => ({ ...day, day: dayLabel(day.date) }));
  return (
    <ChartCard
      title="Adoption"
      columns={['Date', 'Installed', 'Failed']}
      rows={data.map((day) => [day.date, day.installed, day.failed])}
      names={data.map(({ day }) => day)}
      exportable
      note={isUnfinished(adoption.at(-1)?.date) && 'The last bar is today (UTC), so far.'}
      empty={<EmptyState title="No installs yet">Installs appear here by day.</EmptyState>}
    >
      <Legended height={220}>
        {(legended) => (
          <BarChart
            data={data}
            dataKey="day"
            type="stacked"
            series={[
              { name: 'installed', label: 'Installed', color: 'var(--ui-teal-solid)' },
              { name: 'failed', label: 'Failed', color: 'var(--ui-red-solid)' },
            ]}
            {...legended}
            maxBarWidth={28}
            xAxisProps={dayAxis}
            yAxisProps={countAxis}
            barChartProps={{ title: 'Installs by day' }}
          />
        )}
      </Legended>
    </ChartCard>
  );
}
