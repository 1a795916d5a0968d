import { useEffect, useRef, useState, type ReactNode } from 'react';
import { fieldErrors, sentenceOf } from './api-error.ts';
import { focusWrongField } from './ui/wrong-field.ts';

const fields = ['currentPassword', 'newPassword', 'confirmPassword'];

/** What is wrong with a password, for its field: the one of the library does not announce that it is invalid. */
export const passwordError = (error: ReactNode) => ({ error, 'aria-invalid': Boolean(error) });

/** What is wrong without the password of the user. */
export const missingPassword = (currentPassword: string): PasswordProblem | undefined =>
  currentPassword ? undefined : { field: 'currentPassword', message: 'Please enter your current password' };

/** What is wrong with passwords, and with which; without a field, with the form as a whole. */
export type PasswordProblem = { field: string | undefined; message: string };

/**
 * What is wrong with a form that takes passwords: its wrong field says it, and gets the focus unless the user has gone
 * elsewhere. `error`: the refusal of its last call; `otherwise`: its message when the server sends none.
 */
export function usePasswordProblem(error: Error | null, otherwise: string) {
  const form = useRef<HTMLFormElement>(null);
  const [found, setFound] = useState<PasswordProblem>();
  const refused = error && {
    field: Object.keys(fieldErrors(error)).find((field) => fields.includes(field)),
    message: sentenceOf(error, otherwise),
  };
  const problem = found ?? refused;
  useEffect(() => {
    const { activeElement, body } = document;
    const isHere = activeElement === body || form.current?.contains(activeElement);
    if (form.current && isHere && (found ?? error)) focusWrongField(form.current);
  }, [found, error]);
  return {
    /** Shows what was found before the form is sent; returns whether it may be sent. */
    check: (sent: HTMLFormElement, wrong: PasswordProblem | undefined): boolean => {
      form.current = sent;
      setFound(wrong);
      return wrong === undefined;
    },
    at: (field: string) => passwordError(problem?.field === field && problem.message),
    ofForm: problem && !problem.field ? problem.message : undefined,
  };
}
