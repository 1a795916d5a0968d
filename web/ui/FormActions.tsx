import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { CancelButton } from './Dialog.tsx';
import { ErrorText } from './ErrorText.tsx';

/** The end of every form in a dialog: error, cancel button and submit button. */
export function FormActions(props: {
  problem?: string | undefined;
  submitLabel: string;
  busy: boolean;
  onCancel: () => void;
  /** Shown before the buttons. */
  children?: ReactNode;
}) {
  const { problem, submitLabel, busy, onCancel, children } = props;
  return (
    <>
      {problem && <ErrorText>{problem}</ErrorText>}
      <Group justify="flex-end" gap="xs">
        {children}
        <CancelButton onCancel={onCancel} />
        <Button type="submit" loading={busy}>
          {submitLabel}
        </Button>
      </Group>
    </>
  );
}
