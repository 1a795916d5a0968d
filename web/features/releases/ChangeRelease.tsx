import { nextStep } from '../../../contract/next-step.ts';
import { restoreRefusal } from '../../../contract/release-state.ts';
import { trashDays, type Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { useAuth } from '../../session.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import {
  deleteReleasePermanently,
  pauseRollout,
  restoreRelease,
  resumeRollout,
  softDeleteRelease,
} from './queries.ts';
import { percentageAgain, useReleaseConsequences, type ReleaseChange } from './release-consequences.ts';
import { buildText, releaseProblem } from './release-labels.ts';
import { aboutRelease } from '../../toast-subjects.ts';

const WidenRollout = lazyPart(() => import('./WidenRollout.tsx'));
const WithdrawRelease = lazyPart(() => import('./WithdrawRelease.tsx'));

/** A change of one release that was asked for, and waits for its confirmation. */
export type AskedChange = { change: ReleaseChange | 'widen'; release: Release };

/** Confirms a change of a release; all but resuming ask for the reason. */
export default function ChangeRelease(props: AskedChange & { onClose: () => void }) {
  const { change, release, onClose } = props;
  if (change === 'withdraw') return <WithdrawRelease release={release} onClose={onClose} />;
  if (change === 'widen') return <WidenRollout release={release} onClose={onClose} />;
  return <Confirm {...props} change={change} />;
}

type Confirmed = Exclude<ReleaseChange, 'withdraw'>;

const changes: Record<
  Confirmed,
  {
    title: string;
    message: (release: Release) => string;
    confirmLabel?: string;
    run: (release: Release, reason: string) => Promise<{ id: string; updatedAt?: string }>;
    done: (release: Release) => string;
    /** Shown when the server sends no message. */
    failed?: string;
  }
> = {
  pause: {
    title: 'Pause Rollout',
    message: (release) =>
      `Pause the rollout of ${buildText(release)}? It keeps its ${release.rolloutPercentage} % for when it is resumed.`,
    confirmLabel: 'Pause',
    run: ({ id }, reason) => pauseRollout(id, reason),
    done: ({ version }) => `Rollout of ${version} paused`,
  },
  resume: {
    title: 'Resume Rollout',
    message: (release) =>
      `Offer version ${release.version} to ${percentageAgain(release)} % of users again? ` +
      (release.pausedBy !== null
        ? 'Failures from before the pause still count.'
        : nextStep(release)
          ? 'Failures are counted from 0 again, and the step of the rollout starts again.'
          : 'Failures are counted from 0 again.'),
    confirmLabel: 'Resume',
    run: (release) => resumeRollout(release),
    done: ({ version }) => `Rollout of ${version} resumed`,
  },
  softDelete: {
    title: 'Delete Release',
    message: (release) =>
      `Version ${buildText(release)} is moved to the recycle bin and permanently deleted after ${trashDays} days.`,
    confirmLabel: 'Move to Recycle Bin',
    run: softDeleteRelease,
    done: (release) => `Version ${buildText(release)} moved to recycle bin`,
    failed: 'Failed to delete release',
  },
  restore: {
    title: 'Restore Release',
    message: ({ version }) => `Are you sure you want to restore version ${version}?`,
    confirmLabel: 'Restore',
    run: restoreRelease,
    done: () => 'Release restored successfully',
    failed: 'Failed to restore release',
  },
  deletePermanently: {
    title: 'Permanently Delete Release',
    message: ({ version }) =>
      `This action cannot be undone! Are you sure you want to permanently delete version ${version}? This will remove the release and its binary file from all storage systems.`,
    run: ({ id }, reason) => deleteReleasePermanently(id, reason),
    done: () => 'Release permanently deleted',
    failed: 'Failed to permanently delete release',
  },
};

function Confirm(props: { change: Confirmed; release: Release; onClose: () => void }) {
  const { change, release, onClose } = props;
  const { message, run, done, failed, ...texts } = changes[change];
  const consequences = useReleaseConsequences(release, change);
  const undo = useUndoDeletion(release);
  const { can } = useAuth();
  const confirmed = useConfirmedChange({
    change: (reason: string) => run(release, reason),
    done: ({ updatedAt }) => ({
      message: done(release),
      subject: aboutRelease(release),
      ...(change === 'softDelete' &&
        !restoreRefusal(release, can.manageRollouts) && { undo: () => undo(updatedAt) }),
    }),
    problemOf: (error) => (failed ? releaseProblem(error, failed) : messageOf(error)),
    onClose,
  });
  const question = { ...texts, ...confirmed, message: message(release), consequences };
  // the button and the key of Pause become those of Resume when a rollout pauses itself, and a reason has spaces
  if (change === 'resume')
    return <ConfirmDialog {...question} opensItself onConfirm={() => confirmed.onConfirm('')} />;
  const severity = change === 'deletePermanently' ? 'high' : 'normal';
  return <ReasonDialog {...question} about={release.id} severity={severity} />;
}

/**
 * Takes the version that the deletion returned: a colleague may have restored and deleted it again since. None by a process
 * of the previous version, which serves beside this one during an upgrade.
 */
function useUndoDeletion(release: Release): (updatedAt: string | undefined) => void {
  const restore = useChange({
    mutationFn: (updatedAt: string | undefined) =>
      restoreRelease({ id: release.id, updatedAt }, 'Deletion undone'),
    onSuccess: () => toast({ message: changes.restore.done(release), subject: aboutRelease(release) }),
    onError: (error) =>
      toast({
        message: releaseProblem(error, 'Failed to restore release'),
        subject: aboutRelease(release),
        tone: 'red',
      }),
  });
  return restore.mutate;
}
