import { PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import type { User } from '../../../contract/users.ts';
import { usePasswordProblem } from '../../password-problem.ts';
import { ConsequenceList } from '../../ui/Consequences.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { submitTexts } from '../../ui/form-text.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { OwnPassword } from './OwnPassword.tsx';
import { passwordsProblem } from './password-rules.ts';
import { useUserConsequences } from './user-consequences.ts';
import { resetPassword } from './queries.ts';
import { aboutUser } from '../../toast-subjects.ts';

/** Sets another user's password (spec part 2, section 2.8); all their sessions end. */
export default function ResetPassword({ user, onClose }: { user: User; onClose: () => void }) {
  const [currentPassword, setCurrentPassword] = useState<string>();
  const consequences = useUserConsequences(user.id, 'resetPassword');
  const reset = useChange({
    mutationFn: (passwords: { newPassword: string; confirmPassword: string }) =>
      resetPassword(user.id, { ...passwords, currentPassword, updatedAt: user.updatedAt }),
    onSuccess: () => {
      void toast({ message: 'Password reset successfully', subject: aboutUser(user) });
      onClose();
    },
  });
  const problem = usePasswordProblem(reset.error, 'Failed to reset password of user');

  const submit = submitTexts((textOf, sent) => {
    const [newPassword, confirmPassword] = [textOf('newPassword'), textOf('confirmPassword')];
    if (problem.check(sent, passwordsProblem(newPassword, confirmPassword)))
      reset.mutate({ newPassword, confirmPassword });
  });

  return (
    <Dialog title="Reset Password" onClose={onClose}>
      <DialogForm
        onSubmit={submit}
        problem={problem.ofForm}
        submitLabel="Reset Password"
        busy={reset.isPending}
        onCancel={onClose}
      >
        <Text style={{ overflowWrap: 'anywhere' }}>A new password for {user.email}.</Text>
        <ConsequenceList of={consequences} />
        <PasswordInput
          label="New Password"
          name="newPassword"
          {...problem.at('newPassword')}
          data-autofocus
          autoComplete="new-password"
        />
        <PasswordInput
          label="Confirm Password"
          name="confirmPassword"
          {...problem.at('confirmPassword')}
          autoComplete="new-password"
        />
        <OwnPassword
          typed={currentPassword}
          error={problem.at('currentPassword').error}
          onChange={setCurrentPassword}
        />
      </DialogForm>
    </Dialog>
  );
}
