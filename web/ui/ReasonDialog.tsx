import { Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { useIsCounting, type Consequences } from './Consequences.tsx';

const longestReason = 500;

/** The shared confirmation dialog, with the reason that is kept with the change. */
export function ReasonDialog(props: {
  title: string;
  message: ReactNode;
  consequences: Consequences;
  severity?: 'normal' | 'high';
  confirmLabel?: string;
  busy: boolean;
  error?: string | undefined;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}) {
  const { onConfirm, ...rest } = props;
  const [reason, setReason] = useState('');
  const [missing, setMissing] = useState(false);
  const counting = useIsCounting(props.consequences);
  const confirm = () => {
    const given = reason.trim();
    setMissing(given === '');
    if (given !== '') onConfirm(given);
  };
  return (
    <ConfirmDialog {...rest} unsaved={reason.trim() !== ''} onConfirm={confirm}>
      <Textarea
        label="Reason"
        required
        autosize
        minRows={2}
        maxRows={6}
        maxLength={longestReason}
        description="Kept in the audit log"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        data-autofocus
        value={reason}
        error={missing && 'Reason is required'}
        onChange={(event) => {
          setReason(event.currentTarget.value);
          setMissing(false);
        }}
        onKeyDown={(event) => {
          // What cannot be undone takes the button itself.
          if (event.key !== 'Enter' || event.shiftKey || props.severity === 'high') return;
          event.preventDefault();
          if (!props.busy && !counting) confirm();
        }}
      />
    </ConfirmDialog>
  );
}
