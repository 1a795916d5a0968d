import { releaseRefusal } from '../../../contract/release-state.ts';
import type { Release } from '../../../contract/releases.ts';
import { IconDownload, IconPencil, IconTrash } from '../../ui/icons.tsx';
import type { RowActionList } from '../../ui/row-actions.ts';

type Handler = ((release: Release) => void) | undefined;
type Handlers = { onOpen: (release: Release) => void } & Record<
  'onEdit' | 'onPause' | 'onResume' | 'onWithdraw' | 'onDelete',
  Handler
>;

/** The actions of a release; those of spec part 2, section 2.1, are buttons in the row. */
export function releaseActions(release: Release, on: Handlers): RowActionList {
  const ifAllowed = (refusal: string | null, handler: Handler) => (refusal === null ? handler : undefined);
  const onPause = ifAllowed(releaseRefusal.pause(release), on.onPause);
  const onResume = ifAllowed(releaseRefusal.resume(release), on.onResume);
  const onWithdraw = ifAllowed(releaseRefusal.withdraw(release), on.onWithdraw);
  const { onEdit, onDelete } = on;
  return [
    { label: 'Rollout', key: 'Enter', run: () => on.onOpen(release) },
    onEdit && { label: 'Edit', key: 'e', inRow: true, icon: IconPencil, run: () => onEdit(release) },
    { label: 'Download', key: 'o', inRow: true, icon: IconDownload, href: release.fileUrl },
    onPause && { label: 'Pause', key: 'p', run: () => onPause(release) },
    onResume && { label: 'Resume', key: 'p', run: () => onResume(release) },
    onWithdraw && { label: 'Withdraw', key: 'w', danger: true, run: () => onWithdraw(release) },
    onDelete && {
      label: 'Delete',
      key: 'd',
      danger: true,
      inRow: true,
      icon: IconTrash,
      run: () => onDelete(release),
    },
  ];
}
