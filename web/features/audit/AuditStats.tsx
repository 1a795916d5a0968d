import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loaded } from '../../LoadError.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { FigureTable } from '../../ui/FigureTable.tsx';
import { isUnfinished } from '../../ui/unfinished-day.ts';
import { dayLabel } from '../../ui/time.ts';
import classes from './audit.module.css';
import { eventWord } from './audit-words.ts';
import { auditStatsQuery, statsDays } from './queries.ts';
import { countText } from '../../ui/numbers.ts';

/** The last 30 days in one line: entries, failures, and entries by day. */
export default function AuditStats() {
  const stats = useQuery(auditStatsQuery);
  const { data } = stats;
  const [table, setTable] = useState(false);
  if (!data)
    return (
      <Loaded query={stats} title={`Error loading the last ${statsDays} days`}>
        <div className={`panel ${classes.strip}`} aria-hidden />
      </Loaded>
    );
  const [top] = data.byEvent;
  return (
    <section className={`panel ${classes.strip}`} aria-label={`The last ${statsDays} days`}>
      <dl>
        <div>
          <dt>Entries, {statsDays} days</dt>
          <dd>{countText(data.total)}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd>{countText(data.failed)}</dd>
        </div>
        <div>
          <dt>Most frequent</dt>
          <dd>{top ? eventWord(top.event_type) : '—'}</dd>
        </div>
      </dl>
      {table ? <DayTable days={data.byDay} /> : <Bars days={data.byDay} />}
      <Button variant="subtle" size="compact-xs" aria-pressed={table} onClick={() => setTable(!table)}>
        Table
      </Button>
      <AsOf queries={[stats]} />
    </section>
  );
}

type Days = { date: string; count: number }[];

const height = 36;
const step = 10;

function Bars({ days }: { days: Days }) {
  const most = Math.max(1, ...days.map((day) => day.count));
  const [first, last] = [days[0], days.at(-1)].map((day) => day && dayLabel(day.date));
  return (
    <figure className={classes.bars}>
      <svg
        viewBox={`0 0 ${days.length * step} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Entries per day from ${first} to ${last}, at most ${countText(most)}`}
      >
        {days.map((day, n) => {
          const bar = day.count === 0 ? 1 : Math.max(2, (day.count / most) * height);
          return (
            <rect
              key={day.date}
              x={n * step + 1}
              width={step - 2}
              y={height - bar}
              height={bar}
              data-unfinished={isUnfinished(day.date) || undefined}
            >
              <title>{`${dayLabel(day.date)}: ${countText(day.count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption aria-hidden>
        <span>{first}</span>
        <span>{last}</span>
      </figcaption>
    </figure>
  );
}

const DayTable = ({ days }: { days: Days }) => (
  <div className={classes.days}>
    <FigureTable
      title="Entries per day"
      columns={['Day (UTC)', 'Entries']}
      rows={days.toReversed().map(({ date, count }) => [dayLabel(date), count])}
    />
  </div>
);
