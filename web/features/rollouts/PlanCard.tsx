import { Text } from '@mantine/core';
import { unfedReasonOf } from '../../../contract/fed-kinds.ts';
import { hiddenText, nextStep, type NextStep } from '../../../contract/next-step.ts';
import { releaseRefusal } from '../../../contract/release-state.ts';
import type { RolloutProgress } from '../../../contract/rollouts.ts';
import { BucketStrip } from '../../BucketStrip.tsx';
import { UserLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import { ExactTime } from '../../ui/RelativeTime.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import classes from './rollouts.module.css';

/** The plan of a release, where it stands, and what the guard sees. */
export function PlanCard({ progress }: { progress: RolloutProgress }) {
  const { release, guard } = progress;
  const { rolloutPlan, stepTaken, rolloutPercentage, pauseReason, pausedBy } = release;
  const steps = rolloutPlan ?? [{ percentage: rolloutPercentage, hours: null }];
  const at = release.isDraft ? null : rolloutPlan === null ? 0 : stepTaken;
  // of what it does not watch, the guard is quiet too
  const isReplaced = progress.newer !== null && rolloutPercentage === 100;
  const isUnwatched = (isReplaced || releaseRefusal.pause(release) !== null) && guard.verdict === 'QUIET';
  const next = nextStep(release);
  return (
    <Card title="Rollout" actions={!isUnwatched && <Guard verdict={guard.verdict} />}>
      <ol className={`plain-list ${classes.steps}`} aria-label="Steps">
        {steps.map(({ percentage, hours }, index) => (
          <li
            key={percentage}
            className={classes.step}
            data-state={at === null || index > at ? 'ahead' : index === at ? 'now' : 'done'}
            aria-current={index === at ? 'step' : undefined}
          >
            <strong>{percentage} %</strong>
            {hours !== null && <span> for {hours} h</span>}
          </li>
        ))}
      </ol>
      <Text mt={10}>{whereText(progress)}</Text>
      {!release.isDraft && release.isActive && (
        <div className={classes.strip}>
          <BucketStrip percentage={rolloutPercentage} paused={release.pausedAt !== null} />
        </div>
      )}
      {release.pausedAt && (
        <Text c="var(--ui-orange-text)">
          Paused by {pausedBy === null ? 'itself' : <UserLink by={pausedBy} inherit c="inherit" />}:{' '}
          {pauseReason}
        </Text>
      )}
      {next?.dueAt && <Due next={next} progress={progress} />}
      {guard.sentence !== pauseReason && !(release.isDraft && isUnwatched) && (
        <Text c="dimmed" size="xs" mt={6}>
          {guard.sentence}
        </Text>
      )}
    </Card>
  );
}

function Guard({ verdict }: { verdict: RolloutProgress['guard']['verdict'] }) {
  if (verdict === 'QUIET') return <StatusBadge tone="teal">Guard quiet</StatusBadge>;
  return <StatusBadge tone={verdict === 'CLAIMED' ? 'orange' : 'red'}>{badges[verdict]}</StatusBadge>;
}

const badges = { FAILING: 'Installs fail', SILENT: 'Machines silent', CLAIMED: 'Failures claimed' };

function whereText({ release, newer, hiddenBy }: RolloutProgress): string {
  const { isDraft, isActive, pausedAt, damagedAt, rolloutPlan, stepTaken, rolloutPercentage } = release;
  if (isDraft) return 'A draft: the rollout begins when it is published.';
  if (!isActive) return 'Inactive: it is offered to no machine.';
  const unfed = unfedReasonOf(release);
  if (unfed) return `A manual download, offered to no machine: ${unfed}`;
  if (damagedAt)
    return `At ${rolloutPercentage} %, offered to no machine: its file is damaged, and is not sent until it is right again.`;
  if (pausedAt) return `At ${rolloutPercentage} %, offered to no machine until it is resumed.`;
  if (hiddenBy) return `At ${rolloutPercentage} %. ${hiddenText(hiddenBy)}`;
  const ofThem = newer === null ? 'of machines' : `of the machines that an update policy keeps from ${newer}`;
  const others = newer === null ? '' : ` The others are offered ${newer}.`;
  if (rolloutPlan === null)
    return `Offered to ${rolloutPercentage} % ${ofThem}, without further steps.${others}`;
  if (stepTaken === null) return `Not started: offered to ${rolloutPercentage} % ${ofThem}.${others}`;
  return `Offered to ${rolloutPercentage} % ${ofThem}, step ${stepTaken + 1} of ${rolloutPlan.length}.${others}`;
}

function Due({ next, progress }: { next: NextStep; progress: RolloutProgress }) {
  const { isActive, pausedAt, damagedAt } = progress.release;
  if (!isActive || damagedAt) return null;
  if (pausedAt) return <Text>The next step, {next.percentage} %, waits until the rollout is resumed.</Text>;
  if (progress.hiddenBy) return null;
  if (progress.stepNeedsApproval)
    return (
      <Text>
        The next step, {next.percentage} %, waits for the approval of a second person: one person set the
        plan. Widen to ask for it.
      </Text>
    );
  return (
    <Text>
      Next step: {next.percentage} % at {next.dueAt && <ExactTime value={next.dueAt} />}
      {progress.guard.verdict !== 'QUIET'
        ? '; it waits until the guard is quiet'
        : progress.reportsWait && '; it waits until all reports of machines are written to the database'}
      .
    </Text>
  );
}
