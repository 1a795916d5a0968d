import type { DeletedRelease } from '../../../contract/releases.ts';
import type { RowActionList } from '../../ui/row-actions.ts';

type Handlers = {
  onRestore: (release: DeletedRelease) => void;
  onDelete: (release: DeletedRelease) => void;
  whyNot: string | null;
};

/** The actions of a release in the recycle bin. */
export function trashActions(release: DeletedRelease, on: Handlers): RowActionList {
  const shared = { inRow: true, reason: on.whyNot };
  return [
    { ...shared, label: 'Restore', key: 'r', run: () => on.onRestore(release) },
    { ...shared, label: 'Delete', key: 'd', danger: true, run: () => on.onDelete(release) },
  ];
}
