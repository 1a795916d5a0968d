import { Button, Stack } from '@mantine/core';
import { useRef, useState, type FormEvent } from 'react';
import { sentenceOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { formText } from '../../ui/form-text.ts';
import { toast } from '../../ui/toast.tsx';
import { passwordsProblem } from '../users/index.ts';
import { useChange } from '../../use-change.ts';
import classes from './account.module.css';
import { changePassword } from './queries.ts';
import { PasswordField } from './PasswordField.tsx';

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
      void toast({ message: 'Password changed successfully' });
    },
    onError: (error) => setProblem(sentenceOf(error, 'Failed to change password')),
  });

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => formText(given, name);
    const [newPassword, confirmPassword] = [text('newPassword'), text('confirmPassword')];
    const currentPassword = text('currentPassword');
    const found =
      passwordsProblem(newPassword, confirmPassword) ??
      (currentPassword ? undefined : 'Please enter your current password');
    setProblem(found);
    if (!found) change.mutate({ currentPassword, newPassword, confirmPassword });
  };

  return (
    <form ref={form} noValidate onSubmit={submit} className={classes.form}>
      {/* Tells password managers which account the password belongs to. */}
      <input type="email" name="username" autoComplete="username" value={user?.email ?? ''} readOnly hidden />
      <Stack gap="md">
        <PasswordField label="Current Password" name="currentPassword" />
        <PasswordField label="New Password" name="newPassword" autoComplete="new-password" />
        <PasswordField label="Confirm Password" name="confirmPassword" autoComplete="new-password" />
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
