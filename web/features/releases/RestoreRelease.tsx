import type { DeletedRelease } from '../../../contract/releases.ts';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { releaseProblem } from './release-labels.ts';
import { useReleaseConsequences } from './release-consequences.ts';
import { restoreRelease } from './queries.ts';

/** Confirms that a release is restored from the recycle bin. */
export default function RestoreRelease(props: { release: DeletedRelease; onClose: () => void }) {
  const { release, onClose } = props;
  const consequences = useReleaseConsequences(release, 'restore');
  const restore = useChange({
    mutationFn: (reason: string) => restoreRelease(release.id, reason),
    onSuccess: () => {
      onClose();
      void toast({ message: 'Release restored successfully' });
    },
  });
  return (
    <ReasonDialog
      title="Restore Release"
      about={release.id}
      message={`Are you sure you want to restore version ${release.version}?`}
      consequences={consequences}
      confirmLabel="Restore"
      busy={restore.isPending}
      error={restore.error ? releaseProblem(restore.error, 'Failed to restore release') : undefined}
      onConfirm={(reason) => restore.mutate(reason)}
      onClose={onClose}
    />
  );
}
