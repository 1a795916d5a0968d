import { Button, PasswordInput, Stack } from '@mantine/core';
import { useRef } from 'react';
import { useAuth } from '../../session.tsx';
import { missingPassword, usePasswordProblem } from '../../password-problem.ts';
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
  const change = useChange({
    mutationFn: changePassword,
    onSuccess: () => {
      form.current?.reset();
      // Calls that required a changed password are permitted now.
      void refreshRights();
      void toast({ message: 'Password changed successfully', subject: aboutAccount });
    },
  });
  const problem = usePasswordProblem(change.error, 'Failed to change password');

  const submit = submitTexts((textOf, sent) => {
    const [newPassword, confirmPassword] = [textOf('newPassword'), textOf('confirmPassword')];
    const currentPassword = textOf('currentPassword');
    const wrong = passwordsProblem(newPassword, confirmPassword) ?? missingPassword(currentPassword);
    if (problem.check(sent, wrong)) change.mutate({ currentPassword, newPassword, confirmPassword });
  });

  return (
    <form ref={form} noValidate onSubmit={submit} className={classes.form}>
      {/* Tells password managers which account the password belongs to. */}
      <input type="email" name="username" autoComplete="username" value={user?.email ?? ''} readOnly hidden />
      <Stack gap="md">
        <Fields busy={change.isPending}>
          <PasswordInput
            label="Current Password"
            name="currentPassword"
            autoComplete="current-password"
            {...problem.at('currentPassword')}
          />
          <PasswordInput
            label="New Password"
            name="newPassword"
            autoComplete="new-password"
            {...problem.at('newPassword')}
          />
          <PasswordInput
            label="Confirm Password"
            name="confirmPassword"
            autoComplete="new-password"
            {...problem.at('confirmPassword')}
          />
        </Fields>
        {problem.ofForm && <ErrorText>{problem.ofForm}</ErrorText>}
        <div>
          <Button type="submit" loading={change.isPending}>
            Change Password
          </Button>
        </div>
      </Stack>
    </form>
  );
}
