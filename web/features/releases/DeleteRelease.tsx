import { binDays, type Release } from '../../../contract/releases.ts';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { buildText, releaseProblem } from './release-labels.ts';
import { useReleaseConsequences } from './release-consequences.ts';
import { restoreRelease, softDeleteRelease } from './queries.ts';

/** Confirms that a release moves to the recycle bin (spec part 2, section 2.4), and offers Undo afterwards. */
export default function DeleteRelease({ release, onClose }: { release: Release; onClose: () => void }) {
  const { id, version } = release;
  const consequences = useReleaseConsequences(release, 'softDelete');
  const restore = useChange({
    mutationFn: () => restoreRelease(id, 'Deletion undone'),
    onSuccess: () => toast({ message: 'Release restored successfully' }),
    onError: (error) => toast({ message: releaseProblem(error, 'Failed to restore release'), tone: 'red' }),
  });
  const softDelete = useChange({
    mutationFn: (reason: string) => softDeleteRelease(id, reason),
    onSuccess: () => {
      onClose();
      void toast({ message: `Version ${version} moved to recycle bin`, undo: () => restore.mutate() });
    },
  });
  return (
    <ReasonDialog
      title="Delete Release"
      about={id}
      message={
        <>
          Version {buildText(release)} is moved to the recycle bin and permanently deleted after {binDays}{' '}
          days.
        </>
      }
      consequences={consequences}
      confirmLabel="Move to Recycle Bin"
      busy={softDelete.isPending}
      error={softDelete.error ? releaseProblem(softDelete.error, 'Failed to delete release') : undefined}
      onConfirm={(reason) => softDelete.mutate(reason)}
      onClose={onClose}
    />
  );
}
