import type { SavedView } from '../../../contract/views.ts';
import { messageOf } from '../../api-error.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { deleteView, restoreView } from './queries.ts';
import { aboutView } from './view-path.ts';

/** Deletes a view, with Undo. */
export function useRemoveView(on: {
  onRemoved: (view: SavedView) => void;
  onRestored: (view: SavedView) => void;
}) {
  const onError = (error: Error, view: SavedView) =>
    void toast({ message: `View ${view.name}: ${messageOf(error)}`, subject: aboutView(view), tone: 'red' });
  const restore = useChange({
    mutationFn: ({ id }: SavedView) => restoreView(id),
    onSuccess: (view) => {
      void toast({ message: `View ${view.name} restored`, subject: aboutView(view) });
    },
    onError,
  });
  const remove = useChange({
    mutationFn: ({ id }: SavedView) => deleteView(id),
    onSuccess: (_, view) => {
      void toast({
        message: `View ${view.name} deleted`,
        subject: { name: view.name, id: view.id },
        undo: () => restore.mutate(view, { onSuccess: on.onRestored }),
      });
    },
    onError,
  });
  // Both open the list, so they are left out once the user is on another screen.
  return (view: SavedView) => remove.mutate(view, { onSuccess: () => on.onRemoved(view) });
}
