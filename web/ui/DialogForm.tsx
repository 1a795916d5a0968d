import { Button, Group, Stack } from '@mantine/core';
import { useEffect, useRef, type FormEvent, type ReactNode } from 'react';
import { CancelButton } from './Dialog.tsx';
import { ErrorText } from './ErrorText.tsx';
import { Fields } from './Fields.tsx';
import { focusLate } from './focus-late.ts';

/** A form in a dialog: the fields, the error of the form as a whole, and its buttons. */
export function DialogForm(props: {
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  children: ReactNode;
  problem?: string | undefined;
  /** Shown before the buttons. */
  aside?: ReactNode;
  submitLabel: string;
  busy: boolean;
  /** It cannot be sent yet: a file is being read, or whom it affects is being counted. */
  waiting?: boolean;
  onCancel: () => void;
}) {
  const { onSubmit, children, problem, aside, submitLabel, busy, waiting = false, onCancel } = props;
  const button = useRef<HTMLButtonElement>(null);
  // it lost the focus when it was disabled
  useEffect(() => {
    if (problem && !busy && document.activeElement === document.body) button.current?.focus();
  }, [problem, busy]);
  return (
    <form ref={focusLate} noValidate onSubmit={onSubmit}>
      <Stack gap="md">
        <Fields busy={busy}>{children}</Fields>
        {problem && <ErrorText>{problem}</ErrorText>}
        <Group justify="flex-end" gap="xs">
          {aside}
          <CancelButton onCancel={onCancel} />
          <Button ref={button} type="submit" loading={busy || waiting}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
