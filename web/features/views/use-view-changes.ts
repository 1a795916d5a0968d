import type { SavedView } from '../../../contract/views.ts';
import { messageOf } from '../../api-error.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { deleteView, restoreView, updateView } from './queries.ts';
import { aboutView } from './view-path.ts';

/** Saves the filters of a view, or deletes it with Undo. */
export function useViewChanges(on: { onRemoved: () => void; onRestored: (view: SavedView) => void }) {
  const onError = (error: Error, view: SavedView) =>
    void toast({ message: `View ${view.name}: ${messageOf(error)}`, subject: aboutView(view), tone: 'red' });
  const save = useChange({
    mutationFn: ({ view, query }: { view: SavedView; query: string }) =>
      updateView(view.id, { query, updatedAt: view.updatedAt }),
    onSuccess: (view) => void toast({ message: `View ${view.name} saved`, subject: aboutView(view) }),
    onError: (error, { view }) => onError(error, view),
  });
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
        subject: { name: view.name },
        undo: () => restore.mutate(view, { onSuccess: on.onRestored }),
      });
    },
    onError,
  });
  // Both open the list, so they are left out once the user is on another screen.
  return { save, remove: (view: SavedView) => remove.mutate(view, { onSuccess: on.onRemoved }) };
}
