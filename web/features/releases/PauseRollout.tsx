import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { useReleaseConsequences } from './release-consequences.ts';
import { buildText } from './release-labels.ts';
import { pauseRollout } from './queries.ts';

/** Pauses a rollout, with a reason that is shown to everyone until it is resumed. */
export default function PauseRollout({ release, onClose }: { release: Release; onClose: () => void }) {
  const consequences = useReleaseConsequences(release, 'pause');
  const pause = useChange({
    mutationFn: (reason: string) => pauseRollout(release.id, reason),
    onSuccess: () => {
      onClose();
      void toast({ message: `Rollout of ${release.version} paused` });
    },
  });
  return (
    <ReasonDialog
      title="Pause Rollout"
      about={release.id}
      message={
        <>
          Pause the rollout of {buildText(release)}? It keeps its {release.rolloutPercentage} % for when it is
          resumed.
        </>
      }
      consequences={consequences}
      confirmLabel="Pause"
      busy={pause.isPending}
      error={pause.error ? messageOf(pause.error) : undefined}
      onConfirm={(reason) => pause.mutate(reason)}
      onClose={onClose}
    />
  );
}
