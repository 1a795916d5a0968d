import { restoreRefusal } from '../../../contract/release-state.ts';
import type { DeletedRelease } from '../../../contract/releases.ts';
import type { RowActionList } from '../../ui/row-actions.ts';

type Handlers = {
  onRestore: (release: DeletedRelease) => void;
  onDelete: (release: DeletedRelease) => void;
  whyNot: string | null;
  mayPublish: boolean;
};

/** The actions of a release in the recycle bin. */
export function trashActions(release: DeletedRelease, on: Handlers): RowActionList {
  const shared = { inRow: true, reason: on.whyNot };
  return [
    {
      ...shared,
      label: 'Restore',
      key: 'r',
      reason: on.whyNot ?? restoreRefusal(release, on.mayPublish),
      run: () => on.onRestore(release),
    },
    { ...shared, label: 'Delete', key: 'd', danger: true, run: () => on.onDelete(release) },
  ];
}
