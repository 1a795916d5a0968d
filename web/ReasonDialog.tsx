import { Textarea } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';
import { requiredText } from '../contract/common.ts';
import { useEntered } from './dialog-form.ts';
import { ConfirmQuestion } from './ui/ConfirmDialog.tsx';
import { useIsCounting, type Consequences } from './ui/Consequences.tsx';
import { Dialog } from './ui/Dialog.tsx';

/** Of the calls that take one. */
const reasonSchema = requiredText(500, 'Reason is required');

type Props = {
  title: string;
  /** Id of the record to change. */
  about: string;
  message: ReactNode;
  consequences: Consequences;
  severity?: 'normal' | 'high';
  confirmLabel?: string;
  busy: boolean;
  error?: string | undefined;
  onConfirm: (reason: string) => void;
  onClose: () => void;
};

/** Confirmation dialog with a reason that is stored with the change. */
export function ReasonDialog(props: Props) {
  return (
    <Dialog title={props.title} danger={props.severity === 'high'} onClose={props.onClose}>
      <AskReason {...props} />
    </Dialog>
  );
}

function AskReason({ title, about, onConfirm, ...question }: Props) {
  const [reason, setReason] = useEntered(`${title} ${about}`, '');
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const counting = useIsCounting(question.consequences);
  const confirm = () => {
    const { data, error } = reasonSchema.safeParse(reason);
    setProblem(error?.issues[0]?.message);
    if (data === undefined) field.current?.focus();
    else onConfirm(data);
  };
  return (
    <ConfirmQuestion {...question} onConfirm={confirm}>
      <Textarea
        ref={field}
        label="Reason"
        required
        autosize
        minRows={2}
        maxRows={6}
        description="Kept in the audit log"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        data-autofocus
        value={reason}
        error={problem}
        onChange={(event) => {
          setReason(event.currentTarget.value);
          setProblem(undefined);
        }}
        onKeyDown={(event) => {
          // An irreversible change requires a click on the button.
          if (event.key !== 'Enter' || event.shiftKey || question.severity === 'high') return;
          event.preventDefault();
          // A key that is held down was pressed for something else, such as to sign in.
          if (!event.repeat && !question.busy && !counting) confirm();
        }}
      />
    </ConfirmQuestion>
  );
}
