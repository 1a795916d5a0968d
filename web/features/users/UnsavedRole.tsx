import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { usersSearch } from './users-search.ts';

/** Asks before another role or tab takes the place of a role whose changes are not saved. */
export function UnsavedRole({ label }: { label: string }) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname === next.pathname && placeOf(current.search) !== placeOf(next.search),
    enableBeforeUnload: false,
    withResolver: true,
  });
  if (leaving.status === 'idle') return null;
  return (
    <ConfirmDialog
      title="Discard Changes"
      message={`What you changed of the role ${label} is not saved. Discard it?`}
      consequences="affects nobody else"
      confirmLabel="Discard"
      onConfirm={leaving.proceed}
      onClose={leaving.reset}
    />
  );
}

function placeOf(search: object): string {
  const { tab, role } = usersSearch({ ...search });
  return `${tab} ${role}`;
}
