import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../contract/api-keys.ts';
import type { User } from '../../../contract/users.ts';
import { ApiError, fieldErrors, refusalOf, sentenceOf } from '../../api-error.ts';
import { itemProblem, runBulk } from '../../bulk-run.ts';
import { useEntered } from '../../dialog-form.ts';
import { useAuth } from '../../session.tsx';
import { ConfirmQuestion } from '../../ui/ConfirmDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { apiKeysOfQuery, revokeApiKey } from '../api-keys/index.ts';
import { KeysToRevoke } from './KeysToRevoke.tsx';
import { ProofOfGrant } from './OwnPassword.tsx';
import type { UserAction } from './user-actions.ts';
import { useUserConsequences } from './user-consequences.ts';
import { deactivateUser, deleteUser, reactivateUser } from './queries.ts';
import { aboutApiKey, aboutUser } from '../../toast-subjects.ts';

const ResetPassword = lazyPart(() => import('./ResetPassword.tsx'));
const UserSessions = lazyPart(() => import('./UserSessions.tsx'));

/** The dialog of a row button. */
export default function UserDialog(props: { action: UserAction; user: User; onClose: () => void }) {
  const { action, user, onClose } = props;
  switch (action) {
    case 'resetPassword':
      return <ResetPassword user={user} onClose={onClose} />;
    case 'sessions':
      return <UserSessions user={user} onClose={onClose} />;
    default:
      return (
        <Dialog title={changes[action].title} danger={action === 'delete'} onClose={onClose}>
          <ConfirmChange action={action} user={user} onClose={onClose} />
        </Dialog>
      );
  }
}

type Confirmed = Exclude<UserAction, 'resetPassword' | 'sessions'>;

type Question = {
  title: string;
  question: (who: string) => string;
  label: string;
  run: (user: User, currentPassword: string | undefined) => Promise<unknown>;
  done: string;
};

const changes: Record<Confirmed, Question> = {
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
};

function ConfirmChange(props: { action: Confirmed; user: User; onClose: () => void }) {
  const { action, user, onClose } = props;
  const { question, label, run, done } = changes[action];
  const consequences = useUserConsequences(user.id, action);
  const { can } = useAuth();
  const keys = useQuery({
    ...apiKeysOfQuery(user.id),
    enabled: action === 'deactivate' && can.viewApiKeys,
  });
  const [chosen, choose] = useEntered<ApiKey[]>(`${action} user ${user.id}`, []);
  const [currentPassword, setCurrentPassword] = useState<string>();
  const change = useChange({
    mutationFn: async () => {
      // the chosen keys are revoked also where a colleague was faster
      await run(user, currentPassword).catch((error: unknown) => {
        if (chosen.length === 0 || !isRemoved(error)) throw error;
      });
      return revokeKeys(chosen.filter(({ id }) => keys.data?.some((key) => key.id === id) ?? true));
    },
    onSuccess: (notRevoked) => {
      void toast({ message: done, subject: action === 'delete' ? { name: user.email } : aboutUser(user) });
      for (const { item, error } of notRevoked)
        void toast({
          message: refusalOf(`API key "${item.name}" was not revoked`, error, itemProblem(error)),
          subject: aboutApiKey(item),
          tone: 'red',
        });
      onClose();
    },
  });
  return (
    <ConfirmQuestion
      message={question(user.name ? `${user.name} (${user.email})` : user.email)}
      consequences={consequences}
      severity={action === 'delete' ? 'high' : 'normal'}
      confirmLabel={label}
      // its key and place are those of Deactivate, and a colleague may have deactivated them just now
      opensItself={action === 'reactivate'}
      enterConfirms={action === 'reactivate'}
      busy={change.isPending}
      error={change.error ? sentenceOf(change.error, `Failed to ${action} user`) : undefined}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      <KeysToRevoke keys={keys} chosen={chosen} onChoose={choose} />
      {action === 'reactivate' && (
        <ProofOfGrant
          before={[]}
          after={user.roles}
          typed={currentPassword}
          // the dialog says what is wrong
          error={'currentPassword' in fieldErrors(change.error)}
          onChange={setCurrentPassword}
        />
      )}
    </ConfirmQuestion>
  );
}

/** The user was deactivated or deleted before. */
const isRemoved = (error: unknown) =>
  error instanceof ApiError && (error.code === 'WRONG_STATE' || error.code === 'NOT_FOUND');

/** Revokes the keys of a deactivated user; returns those that failed. */
const revokeKeys = async (keys: readonly ApiKey[]) =>
  (await runBulk(keys, ({ id }, form) => revokeApiKey(id, form))).failed;
