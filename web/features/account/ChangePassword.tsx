import { Button, PasswordInput, Stack } from '@mantine/core';
import { useRef, useState } from 'react';
import { sentenceOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { submitTexts } from '../../ui/form-text.ts';
import { toast } from '../../ui/toast.tsx';
import { passwordsProblem } from '../users/index.ts';
import { useChange } from '../../use-change.ts';
import classes from './account.module.css';
import { changePassword } from './queries.ts';
import { aboutAccount } from '../../toast-subjects.ts';

/** Changes the user's own password; requires the current one. */
export function ChangePassword() {
  const { user, refreshRights } = useAuth();
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<string>();
  const change = useChange({
    mutationFn: changePassword,
    onSuccess: () => {
      form.current?.reset();
      // Calls that required a changed password are permitted now.
      void refreshRights();
      void toast({ message: 'Password changed successfully', subject: aboutAccount });
    },
    onError: (error) => setProblem(sentenceOf(error, 'Failed to change password')),
  });

  const submit = submitTexts((textOf) => {
    const [newPassword, confirmPassword] = [textOf('newPassword'), textOf('confirmPassword')];
    const currentPassword = textOf('currentPassword');
    const found =
      passwordsProblem(newPassword, confirmPassword) ??
      (currentPassword ? undefined : 'Please enter your current password');
    setProblem(found);
    if (!found) change.mutate({ currentPassword, newPassword, confirmPassword });
  });

  return (
    <form ref={form} noValidate onSubmit={submit} className={classes.form}>
      {/* Tells password managers which account the password belongs to. */}
      <input type="email" name="username" autoComplete="username" value={user?.email ?? ''} readOnly hidden />
      <Stack gap="md">
        <Fields busy={change.isPending}>
          <PasswordInput label="Current Password" name="currentPassword" autoComplete="current-password" />
          <PasswordInput label="New Password" name="newPassword" autoComplete="new-password" />
          <PasswordInput label="Confirm Password" name="confirmPassword" autoComplete="new-password" />
        </Fields>
        {problem && <ErrorText>{problem}</ErrorText>}
        <div>
          <Button type="submit" loading={change.isPending}>
            Change Password
          </Button>
        </div>
      </Stack>
    </form>
  );
}
