import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { maySee } from '../../../contract/permissions.ts';
import { figureNeeds, todayNeeds } from '../../../contract/today-needs.ts';
import { Loaded } from '../../LoadError.tsx';
import { useAuth } from '../../session.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { Page } from '../../ui/Page.tsx';
import { Scroller } from '../../ui/Scroller.tsx';
import { IconCheck } from '../../ui/icons.tsx';
import { clockTime, longDay } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import { DayFigures } from './DayFigures.tsx';
import { Line } from './Line.tsx';
import { todayQuery } from './queries.ts';
import { byUrgency } from './today-lines.ts';
import classes from './today.module.css';

/** What needs the user, each with the list and the next step, and the figures of the day. */
export function TodayPage() {
  const { permissions } = useAuth();
  const now = useNow();
  const today = useQuery(todayQuery());
  // the server answers for the user, and not for the role that is previewed
  const lines = today.data?.lines.filter(({ kind }) => maySee(todayNeeds[kind], permissions));
  const figures = today.data?.figures.filter(({ figure }) => maySee(figureNeeds[figure], permissions));
  return (
    <Page title="Today" note={longDay(now)} actions={<AsOf queries={[today]} />}>
      <Loaded query={today} title="Error loading what needs attention">
        <Scroller label="Today">
          <div className={classes.columns}>
            <section aria-label="Needs attention" aria-busy={!lines}>
              {!lines ? (
                <Loading />
              ) : lines.length === 0 ? (
                <Quiet checkedAt={today.dataUpdatedAt} />
              ) : (
                <ul className="panel plain-list">
                  {byUrgency(lines, now).map((line) => (
                    <Line key={line.kind} line={line} now={now} />
                  ))}
                </ul>
              )}
            </section>
            {figures && figures.length > 0 && <DayFigures figures={figures} />}
          </div>
        </Scroller>
      </Loaded>
    </Page>
  );
}

function Quiet({ checkedAt }: { checkedAt: number }) {
  return (
    <div className={`panel ${classes.quiet}`} role="status">
      <span className={classes.check} aria-hidden>
        <IconCheck size={22} stroke={2} />
      </span>
      <h2>Nothing needs you</h2>
      <p>
        Checked at <time dateTime={new Date(checkedAt).toISOString()}>{clockTime(checkedAt)}</time>. What
        needs you appears here.
      </p>
    </div>
  );
}

function Loading() {
  return (
    <ul className="panel plain-list">
      {[42, 58, 36].map((width) => (
        <li key={width} className={classes.line}>
          <Skeleton height={32} width={32} radius={8} />
          <div className={classes.text}>
            <Skeleton height={12} width={`${width}%`} my={4} radius={3} />
            <Skeleton height={10} width={`${width - 12}%`} my={5} radius={3} />
          </div>
        </li>
      ))}
    </ul>
  );
}
