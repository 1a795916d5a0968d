import type { DeletedRelease } from '../../../contract/releases.ts';
import { ReasonDialog } from '../../ReasonDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { releaseProblem } from './release-labels.ts';
import { useReleaseConsequences } from './release-consequences.ts';
import { deleteReleasePermanently } from './queries.ts';

/** Confirms that a release and its binary are permanently deleted. */
export default function DeleteForGood(props: { release: DeletedRelease; onClose: () => void }) {
  const { release, onClose } = props;
  const consequences = useReleaseConsequences(release, 'deletePermanently');
  const remove = useChange({
    mutationFn: (reason: string) => deleteReleasePermanently(release.id, reason),
    onSuccess: () => {
      onClose();
      void toast({ message: 'Release permanently deleted' });
    },
  });
  return (
    <ReasonDialog
      title="Permanently Delete Release"
      about={release.id}
      severity="high"
      message={`This action cannot be undone! Are you sure you want to permanently delete version ${release.version}? This will remove the release and its binary file from all storage systems.`}
      consequences={consequences}
      busy={remove.isPending}
      error={remove.error ? releaseProblem(remove.error, 'Failed to permanently delete release') : undefined}
      onConfirm={(reason) => remove.mutate(reason)}
      onClose={onClose}
    />
  );
}
