import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { useReleaseConsequences } from './release-consequences.ts';
import { resumeRollout } from './queries.ts';

/** Confirms that a paused rollout is resumed. */
export default function ResumeRollout({ release, onClose }: { release: Release; onClose: () => void }) {
  const consequences = useReleaseConsequences(release, 'resume');
  const resume = useChange({
    mutationFn: () => resumeRollout(release.id),
    onSuccess: () => {
      onClose();
      void toast({ message: `Rollout of ${release.version} resumed` });
    },
  });
  return (
    <ConfirmDialog
      title="Resume Rollout"
      message={
        <>
          Offer version {release.version} to {release.rolloutPercentage} % of users again? Failures are
          counted from 0 again.
        </>
      }
      consequences={consequences}
      confirmLabel="Resume"
      busy={resume.isPending}
      error={resume.error ? messageOf(resume.error) : undefined}
      onConfirm={() => resume.mutate()}
      onClose={onClose}
    />
  );
}
