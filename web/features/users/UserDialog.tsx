import { lazy } from 'react';
import type { User } from '../../../contract/users.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import type { UserAction } from './user-columns.tsx';
import { useUserConsequences } from './user-consequences.ts';
import { deactivateUser, deleteUser, problemOf, reactivateUser } from './users.ts';

const ResetPassword = lazy(() => import('./ResetPassword.tsx'));
const UserSessions = lazy(() => import('./UserSessions.tsx'));

/** The dialog of a row button. */
export default function UserDialog(props: { action: UserAction; user: User; onClose: () => void }) {
  const { action, user, onClose } = props;
  switch (action) {
    case 'resetPassword':
      return <ResetPassword user={user} onClose={onClose} />;
    case 'sessions':
      return <UserSessions user={user} onClose={onClose} />;
    default:
      return <ConfirmChange action={action} user={user} onClose={onClose} />;
  }
}

const changes = {
  deactivate: {
    title: 'Deactivate User',
    question: (who: string) =>
      `Deactivate ${who}? They are signed out, and cannot sign in until reactivated.`,
    label: 'Deactivate',
    run: deactivateUser,
    done: 'User deactivated successfully',
  },
  reactivate: {
    title: 'Reactivate User',
    question: (who: string) => `Let ${who} sign in again?`,
    label: 'Reactivate',
    run: reactivateUser,
    done: 'User reactivated successfully',
  },
  delete: {
    title: 'Delete User',
    question: (who: string) => `Permanently delete ${who}? Their entries in the audit log stay.`,
    label: 'Delete',
    run: deleteUser,
    done: 'User deleted successfully',
  },
} as const;

function ConfirmChange(props: { action: keyof typeof changes; user: User; onClose: () => void }) {
  const { action, user, onClose } = props;
  const { title, question, label, run, done } = changes[action];
  const consequences = useUserConsequences(user.id, action);
  const change = useChange({
    mutationFn: async (): Promise<unknown> => run(user.id),
    onSuccess: () => {
      void toast({ message: done });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={title}
      message={question(user.name ? `${user.name} (${user.email})` : user.email)}
      consequences={consequences}
      severity={action === 'delete' ? 'high' : 'normal'}
      confirmLabel={label}
      busy={change.isPending}
      error={change.error ? problemOf(change.error, `Failed to ${action} user`) : undefined}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    />
  );
}
