import { useInfiniteQuery } from '@tanstack/react-query';
import type { TimelineRun } from '../../../contract/machine-standing.ts';
import { Loaded } from '../../LoadError.tsx';
import { OlderButton } from '../../OlderButton.tsx';
import { LicenseLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import { IconCircleX, IconShieldCheck } from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { momentText } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import { eventIcons } from './EventList.tsx';
import classes from './machines.module.css';
import { timelineQuery } from './queries.ts';
import { runSentence } from './run-sentence.ts';
import { Sentence } from './Sentence.tsx';
import { rangeText } from './verdict.ts';

/** Validations and update events of the machine in one order, runs of the same folded. */
export function Timeline({ machineId }: { machineId: string }) {
  const timeline = useInfiniteQuery(timelineQuery(machineId));
  const runs = timeline.data;
  return (
    <Card title="Timeline">
      <Loaded query={timeline} title="Error loading the timeline">
        {runs?.length === 0 ? (
          <EmptyState title="Nothing yet">No validations or update events to show.</EmptyState>
        ) : (
          <>
            <ol
              className={`panel plain-list ${classes.events}`}
              aria-label="Timeline"
              aria-busy={!runs}
              tabIndex={0}
            >
              {runs?.map((run) => (
                <Run key={run.id} run={run} />
              ))}
            </ol>
            <OlderButton query={timeline} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Run({ run }: { run: TimelineRun }) {
  const { licenseId, licenseKey } = run;
  const now = useNow();
  const Icon = !run.success
    ? IconCircleX
    : run.kind === 'validation'
      ? IconShieldCheck
      : eventIcons[run.kind];
  const isDone = run.kind.endsWith('_complete');
  return (
    <li data-state={run.success ? (isDone ? 'done' : undefined) : 'failed'}>
      <Icon size={16} stroke={1.5} />
      <span className={classes.sentence}>
        <Sentence parts={runSentence(run)} of={run} />
        {licenseId && licenseKey && (
          <span className="dimmed">
            {' '}
            on <LicenseLink licenseId={licenseId} licenseKey={licenseKey} inherit />
          </span>
        )}
      </span>
      <span className={classes.when}>
        {run.count === 1 ? momentText(run.to) : rangeText(run.from, run.to, now)}
      </span>
    </li>
  );
}
