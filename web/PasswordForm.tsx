import { PasswordInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { missingPassword, usePasswordProblem } from './password-problem.ts';
import { DialogForm } from './ui/DialogForm.tsx';
import { submitTexts } from './ui/form-text.ts';

/**
 * The form of a dialog that needs the password of the signed-in user, at whose field a missing or wrong one is named.
 * `error`: the refusal of the last call; `otherwise`: its message when the server sends none.
 */
export function PasswordForm(props: {
  children: ReactNode;
  label?: string;
  error: Error | null;
  otherwise: string;
  submitLabel: string;
  busy: boolean;
  onPassword: (password: string) => void;
  onCancel: () => void;
}) {
  const { children, label = 'Current Password', error, otherwise, onPassword, ...form } = props;
  const problem = usePasswordProblem(error, otherwise);
  const submit = submitTexts((textOf, sent) => {
    const password = textOf('currentPassword');
    if (problem.check(sent, missingPassword(password))) onPassword(password);
  });
  return (
    <DialogForm onSubmit={submit} problem={problem.ofForm} {...form}>
      {children}
      <PasswordInput
        label={label}
        name="currentPassword"
        autoComplete="current-password"
        data-autofocus
        {...problem.at('currentPassword')}
      />
    </DialogForm>
  );
}
