import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ConsequenceList, useIsCounting, type Consequences } from './Consequences.tsx';
import { CancelButton, Dialog } from './Dialog.tsx';
import { DialogText } from './DialogFrame.tsx';
import { ErrorText } from './ErrorText.tsx';
import { Fields } from './Fields.tsx';
import { submitTexts } from './form-text.ts';
import { IconAlertTriangle } from './icons.tsx';
import { ToneAlert } from './ToneAlert.tsx';

const highSeverityWarning =
  'Warning: This action cannot be undone. All associated data will be permanently deleted from the system.';

/**
 * The shared confirmation dialog (spec part 1, section 2). Below the question, it says whom the change affects. High
 * severity is for permanent deletion only: red title, warning box and a specific confirm label.
 */
export function ConfirmDialog({
  title,
  sendsForm = false,
  ...question
}: QuestionProps & { title: string; sendsForm?: boolean }) {
  return (
    <Dialog
      title={title}
      sendsForm={sendsForm}
      danger={question.severity === 'high'}
      onClose={question.onClose}
    >
      <ConfirmQuestion {...question} />
    </Dialog>
  );
}

type QuestionProps = {
  message: ReactNode;
  consequences: Consequences;
  /** Additional required fields, below the consequences. */
  children?: ReactNode;
  onConfirm: () => void;
  onClose: () => void;
  severity?: 'normal' | 'high';
  /**
   * Shown after a form was sent, in place of another dialog, or by a key that means the opposite until a colleague is
   * faster: the focus starts at the question, or an Enter by habit would confirm it unread.
   */
  opensItself?: boolean;
  /** Enter in its only text field does the same as the button. */
  enterConfirms?: boolean;
  confirmLabel?: string;
  cancelLabel?: string;
  /** The confirmed action is running. */
  busy?: boolean;
  /** Why the confirmed action failed. */
  error?: string | undefined;
};

/** The content of that dialog, for dialogs with fields of their own. */
export function ConfirmQuestion(props: QuestionProps) {
  const { severity = 'normal', confirmLabel = 'Confirm', cancelLabel = 'Cancel', busy = false } = props;
  const high = severity === 'high';
  const { opensItself = false, enterConfirms = false } = props;
  const counting = useIsCounting(props.consequences);
  const confirm = () => counting || props.onConfirm();
  const fields = <Fields busy={busy}>{props.children}</Fields>;
  return (
    <Stack gap="md">
      {opensItself ? (
        <Text component="div" style={{ overflowWrap: 'anywhere' }} tabIndex={-1} data-autofocus>
          {props.message}
        </Text>
      ) : (
        <DialogText>{props.message}</DialogText>
      )}
      <ConsequenceList of={props.consequences} />
      {enterConfirms ? (
        <form noValidate onSubmit={submitTexts(confirm)} style={{ display: 'contents' }}>
          {fields}
        </form>
      ) : (
        fields
      )}
      {high && (
        <ToneAlert tone="red" icon={<IconAlertTriangle size={18} stroke={2} />}>
          {highSeverityWarning}
        </ToneAlert>
      )}
      {props.error && <ErrorText>{props.error}</ErrorText>}
      <Group justify="flex-end" gap="xs">
        <CancelButton label={cancelLabel} focused={high} onCancel={props.onClose} />
        <Button
          loading={busy}
          aria-disabled={counting || undefined}
          onClick={confirm}
          data-autofocus={(!high && !opensItself) || undefined}
          {...(high && { color: 'red' })}
          {...(counting && { 'data-disabled': true })}
        >
          {high ? 'Yes, Delete Permanently' : confirmLabel}
        </Button>
      </Group>
    </Stack>
  );
}
